"""The styled letters of Unicode (𝐀, 𝔸, 𝒜, 𝚡 …) that stand for MathML's variants."""

from __future__ import annotations

_LATIN = {
    "bold": 0x1D400,
    "italic": 0x1D434,
    "bold-italic": 0x1D468,
    "script": 0x1D49C,
    "bold-script": 0x1D4D0,
    "fraktur": 0x1D504,
    "double-struck": 0x1D538,
    "bold-fraktur": 0x1D56C,
    "sans-serif": 0x1D5A0,
    "bold-sans-serif": 0x1D5D4,
    "sans-serif-italic": 0x1D608,
    "sans-serif-bold-italic": 0x1D63C,
    "monospace": 0x1D670,
}
_GREEK = {
    "bold": 0x1D6A8,
    "italic": 0x1D6E2,
    "bold-italic": 0x1D71C,
    "bold-sans-serif": 0x1D756,
    "sans-serif-bold-italic": 0x1D790,
}
_DIGITS = {
    "bold": 0x1D7CE,
    "double-struck": 0x1D7D8,
    "sans-serif": 0x1D7E2,
    "bold-sans-serif": 0x1D7EC,
    "monospace": 0x1D7F6,
}
# Letters that Unicode had encoded before it filled the blocks above.
_EARLIER = {
    "italic": {"h": "ℎ"},
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
# Behind omega, each Greek block goes on with these signs.
_GREEK_TAIL = {sign: 51 + index for index, sign in enumerate("∂ϵϑϰϕϱϖ")} | {"∇": 25, "ϴ": 17}


def styled(text: str, variant: str) -> str:
    """Return `text` in the letters of a MathML variant; signs without one stay as they are.

    >>> styled("Rx1", "double-struck"), styled("h", "italic")
    ('ℝ𝕩𝟙', 'ℎ')
    """
    return "".join(_styled_letter(letter, variant) for letter in text)


def _styled_letter(letter: str, variant: str) -> str:
    if letter in _EARLIER.get(variant, {}):
        return _EARLIER[variant][letter]
    if letter.isascii() and letter.isalpha() and variant in _LATIN:
        offset = ord(letter) - ord("A") if letter.isupper() else ord(letter) - ord("a") + 26
        return chr(_LATIN[variant] + offset)
    if letter.isascii() and letter.isdigit() and variant in _DIGITS:
        return chr(_DIGITS[variant] + int(letter))
    if variant in _GREEK:
        return _styled_greek(letter, _GREEK[variant])
    return letter


def _styled_greek(letter: str, start: int) -> str:
    if letter in _GREEK_TAIL:
        return chr(start + _GREEK_TAIL[letter])
    if "Α" <= letter <= "Ω":
        return chr(start + ord(letter) - ord("Α"))
    if "α" <= letter <= "ω":
        return chr(start + ord(letter) - ord("α") + 26)
    return letter
