// Looks at the report as a browser shows it, and replaces the page by the findings, a line for each.
(() => {
    const lines = [];
    const ink = element => getComputedStyle(element).fill;
    const figures = [...document.querySelectorAll("figure")];
    for (const figure of figures) {
        const svg = figure.querySelector("svg");
        if (!svg) {
            lines.push(`empty ${figure.id}`);
            continue;
        }
        const box = svg.getBoundingClientRect();
        if (box.width < 300 || box.height < 80)
            lines.push(`small ${figure.id} ${box.width} x ${box.height}`);
        const texts = [...svg.querySelectorAll("text")];
        const boxes = texts.map(text => text.getBoundingClientRect());
        boxes.forEach((own, at) => {
            const words = texts[at].textContent.trim();
            if (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1)
                lines.push(`outside ${figure.id} ${words}`);
            boxes.slice(0, at).forEach((other, before) => {
                const wide = Math.min(own.right, other.right) - Math.max(own.left, other.left);
                const high = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
                if (wide > 1 && high > 4)
                    lines.push(`overlap ${figure.id} ${words} / ${texts[before].textContent.trim()}`);
            });
        });
        lines.push(`figure ${figure.id} ${texts.length} ${svg.querySelectorAll("rect,polyline,circle,polygon").length}`);
    }
    const text = document.querySelector("svg .f-ink");
    lines.push(`ink ${ink(text)} page ${getComputedStyle(document.body).backgroundColor}`);
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    if (wide > 0)
        lines.push(`wide ${wide}`);
    document.body.textContent = "\n" + lines.join("\n") + "\n";
})();
