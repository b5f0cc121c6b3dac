"""Certificates of tests: an authority, and what it signed for the loopback interface."""

import datetime as dt
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAYS = 2


def authority(folder: Path) -> dict[str, str]:
    """Make an authority and one certificate of it for all; return Dask's settings of them."""
    folder.mkdir()
    own, key = _name("authority of a test"), ec.generate_private_key(ec.SECP256R1())
    signed = _certificate(own, own, key.public_key())
    signed = signed.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    (folder / "ca.pem").write_bytes(_pem(signed.sign(key, hashes.SHA256())))
    node = ec.generate_private_key(ec.SECP256R1())
    host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = _certificate(_name("node"), own, node.public_key()).add_extension(host, critical=False)
    (folder / "node.pem").write_bytes(_pem(signed.sign(key, hashes.SHA256())))
    (folder / "node.key").write_bytes(node.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ))  # fmt: skip
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    given = {f"{tls}CA_FILE": str(folder / "ca.pem")}
    for who in ("SCHEDULER", "WORKER", "CLIENT"):
        given[f"{tls}{who}__CERT"] = str(folder / "node.pem")
        given[f"{tls}{who}__KEY"] = str(folder / "node.key")
    return given


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=DAYS))
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
