"""The mistakes of `docs/proof/findings.md`, put back one by one: each is caught by the test that names its finding."""
