/** Forgeries by spelling: JSON in which one hex text is written otherwise. Bytes have no such class. */

const HEX_TEXT = /"0x([0-9a-f]*)"/g;

/** @returns texts of the same or nearly the same bytes, none of them canonical */
function respell(digits: string): readonly string[] {
  const {length} = digits;
  const texts = [
    digits,
    `0X${digits}`,
    `0x0${digits}`,
    `0x00${digits}`,
    `0x${digits}00`,
    ` 0x${digits}`,
    `0x${digits}\\n`,
  ];
  if (length > 0) texts.push(`0x${digits.slice(1)}`, `0x${digits.slice(0, -1)}`, "0x", "");
  if (/[a-f]/.test(digits))
    texts.push(`0x${digits.toUpperCase()}`, `0x${digits.replace(/[a-f]/, a => a.toUpperCase())}`);
  return texts;
}

/** @param json - a valid proof, as an answer has it */
export function* forgeTexts(json: unknown): Generator<unknown> {
  const text = JSON.stringify(json);
  for (const {index, 0: found, 1: digits = ""} of text.matchAll(HEX_TEXT))
    for (const other of respell(digits))
      yield JSON.parse(`${text.slice(0, index)}"${other}"${text.slice(index + found.length)}`);
}
