#!/bin/sh
# check.sh CHROMIUM FARREACH…: draws a report by the command FARREACH…, which has a device, and looks at it in a
# browser, light and dark, wide and narrow: each figure is there with its words and marks, within its
# edges, and no word lies on another one.
set -eu
chromium=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
# The browser's own files go with the rest.
export HOME="$place"
trap 'rm -rf "$place"' EXIT
"$@" report --counts "$here/counts.tsv" --measured "$here/measured.tsv" --output "$place/report.html" --svg "$place/svg"
{
    sed 's,</body>,,; s,</html>,,' "$place/report.html"
    echo '<script>'; cat "$here/probe.js"; echo '</script></body></html>'
} > "$place/probed.html"
for look in "1 1240" "0 1240" "1 420"; do
    set -- $look
    # 0 is dark. The sandbox of the browser wants rights that a container lacks, and the page is our own.
    timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --user-data-dir="$place/profile" \
        --blink-settings=preferredColorScheme="$1" --window-size="$2,2000" --dump-dom "file://$place/probed.html" \
        > "$place/found" 2> "$place/said" || { cat "$place/said" >&2; exit 1; }
    wrong=$(grep -E '^(empty|small|outside|overlap|wide) ' "$place/found" || true)
    # Pictures of a narrow page are scaled down with their words.
    [ "$2" = 420 ] && wrong=$(printf '%s\n' "$wrong" | grep -v -E '^(small|overlap) ' || true)
    [ -z "$wrong" ] || { printf 'width %s:\n%s\n' "$2" "$wrong" >&2; exit 1; }
    figures=$(grep -c '^figure ' "$place/found" || true)
    pictures=$(ls "$place/svg" | wc -l)
    [ "$figures" -eq "$pictures" ] && [ "$figures" -ge 17 ] || { echo "$figures figures, $pictures files" >&2; exit 1; }
    case $1 in
        1) grep -q '^ink rgb(26, 26, 26) page rgb(255, 255, 255)' "$place/found" ;;
        0) grep -q '^ink rgb(236, 236, 236) page rgb(22, 24, 26)' "$place/found" ;;
    esac || { grep '^ink' "$place/found" >&2; exit 1; }
done
