"""Files taken apart and put together again, with a right checksum: what an attacker could write."""

import hashlib
import io
import json
import zipfile

from kmcf.store.container import SEAL_LENGTH


def sealed(archive_bytes, version=1):
    """Put the right checksum at the end of an archive with a comment of the right length."""
    body = archive_bytes[:-SEAL_LENGTH]
    return body + f"kmcf-format {version:06d} sha256 {hashlib.sha256(body).hexdigest()}".encode()


def rebuilt(whole, change=lambda manifest, members: None, compression=zipfile.ZIP_STORED, keep_manifest=False):
    """Unpack a file, change it on purpose, and pack and seal it again."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["kmcf.json"])
    change(manifest, members)
    if not keep_manifest:  # otherwise the change has written it
        members["kmcf.json"] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = b" " * SEAL_LENGTH
    return sealed(buffer.getvalue())


def npy(shape, dtype="<f8", data=b""):
    """An array file with any header before any bytes."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data
