//! Entries taken apart, alone.

use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::decode::{Piece, Pieces, Service, control, request};
use fi_mlx5_defs::doorbell::Arm;

/// Takes the bytes for an entry of either kind, a receive, a completion and a word that arms.
pub(super) fn run(bytes: &[u8]) {
    for service in [Service::Connected, Service::Addressed] {
        let Ok(request) = request(bytes, service) else {
            continue;
        };
        let _ = format!("{request:?}");
        if let Ok(pieces) = request.pieces.collect() {
            check(&pieces, bytes);
        }
    }
    if let Ok(pieces) = Pieces::of_receive(bytes).collect() {
        check(&pieces, bytes);
    }
    let _ = control(bytes);
    if let Some(first) = bytes.first_chunk() {
        let _ = Arm::from_word(u32::from_be_bytes(*first));
    }
    if let Some(first) = bytes.first_chunk::<64>() {
        let cqe: Cqe = bytemuck::pod_read_unaligned(first);
        let _ = (cqe.opcode(), cqe.is_error(), cqe.solicited());
    }
}

/// Checks that pieces are of the entry, and not more than it has room for.
fn check(pieces: &[Piece<'_>], bytes: &[u8]) {
    assert!(pieces.len() <= bytes.len().div_ceil(4));
    let whole = bytes.as_ptr_range();
    for piece in pieces {
        if let Piece::Inline(data) = piece {
            let part = data.as_ptr_range();
            assert!(whole.start <= part.start && part.end <= whole.end);
        }
    }
}
