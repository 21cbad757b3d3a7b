from evaluation.io.digest import sha256_of


def test_sha256_of_the_standards_example():
    """FIPS 180-2, appendix B.1."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_of(b"abc") == sha256_of(memoryview(b"xabc")[1:]) == expected
