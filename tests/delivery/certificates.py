"""Authorities and certificates made by the openssl program, for one test run."""

import ssl
import subprocess
from pathlib import Path


class Authority:
    """A certificate authority of our own, in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self._openssl("req", "-x509", *self._key(name), "-subj", f"/CN={name}", "-days", "2", "-out", f"{name}.pem")

    @property
    def pem(self) -> str:
        return (self.folder / f"{self.name}.pem").read_text()

    def issue(self, name: str, alternative: str) -> str:
        """A certificate and its key, as one PEM text."""
        self._openssl("req", *self._key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
        signed = ("-CA", f"{self.name}.pem", "-CAkey", f"{self.name}.key", "-CAcreateserial", "-days", "2")
        self._openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-extfile", f"{name}.ext", "-out", f"{name}.pem")
        return (self.folder / f"{name}.pem").read_text() + (self.folder / f"{name}.key").read_text()

    def issue_locked(self, name: str) -> str:
        """The same with a key that a password protects."""
        whole = self.issue(name, f"DNS:{name}")
        words = ("ec", "-in", f"{name}.key", "-aes256", "-passout", "pass:s3cret", "-out", f"{name}.locked")
        self._openssl(*words)
        return whole.replace((self.folder / f"{name}.key").read_text(), (self.folder / f"{name}.locked").read_text())

    def serves(self, name: str, alternative: str, *, wants: "Authority | None" = None) -> ssl.SSLContext:
        """What a server needs to show such a certificate, and to want one of its visitors."""
        both = self.folder / f"{name}.both"
        both.write_text(self.issue(name, alternative))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        if wants:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=wants.pem)
        return context

    @staticmethod
    def _key(name: str) -> tuple[str, ...]:
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key"

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, cwd=self.folder, capture_output=True)
