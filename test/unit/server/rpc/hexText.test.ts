import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHexBytes, decodeHexInto} from "../../../../server/rpc/hexText.ts";

function decode(text: string, byteCount: number): string | undefined {
  const out = Buffer.alloc(byteCount + 2, 0xee);
  if (!decodeHexInto(text, out, 1, byteCount)) return undefined;
  assert.equal(out[0], 0xee);
  assert.equal(out[byteCount + 1], 0xee);
  return out.toString("hex", 1, byteCount + 1);
}

test("any number of digits up to the width is read as a number, in either case", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.nat(64), fc.boolean(), (value, zeros, isUpper) => {
      const digits = value.toString(16);
      const padded = digits.padStart(Math.max(digits.length, zeros), "0");
      const text = isUpper ? padded.toUpperCase() : padded;
      assert.equal(decode(`0x${text}`, 32), digits.padStart(64, "0"));
    }),
  );
});

test("text without prefix, without digits, too long or with another character is refused", () => {
  for (const text of ["", "0", "0x", "12", "x12", "1x12", "0x12345", "0xg0", "0x0g", "0x 1", "0x-1", "0x1_2"])
    assert.equal(decode(text, 2), undefined, text);
});

test("characters that only look like digits by their low byte are refused", () => {
  for (const digit of ["\u0130", "\uff11", "\u0660", "\ud835\udfce"]) {
    assert.equal(decode(`0x${digit}`, 8), undefined);
    assert.equal(decode(`0x1${digit}`, 8), undefined);
    assert.equal(decode(`0x${digit}1`, 8), undefined);
  }
});

test("whole bytes of any count are read, and 0x alone is none", () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 70}), fc.boolean(), (bytes, isUpper) => {
      const digits = Buffer.from(bytes).toString("hex");
      assert.deepEqual(decodeHexBytes(isUpper ? `0X${digits.toUpperCase()}` : `0x${digits}`), bytes);
    }),
  );
});

test("bytes without prefix, with an odd digit or with another character are refused", () => {
  for (const text of [
    "",
    "0",
    "x",
    "12",
    "1234",
    "0x1",
    "0x123",
    "0xg0",
    "0x0g",
    "0x12 ",
    "0x\u0130\u0130",
    "00x1",
  ])
    assert.equal(decodeHexBytes(text), undefined, text);
});

test("megabytes are read whole, and refused for one bad digit at either end", () => {
  const digits = "aB".repeat(5 * 2 ** 20);
  assert.equal(decodeHexBytes(`0x${digits}`)?.length, 5 * 2 ** 20);
  assert.equal(decodeHexBytes(`0xz${digits.slice(1)}`), undefined);
  assert.equal(decodeHexBytes(`0x${digits.slice(1)}z`), undefined);
});

test("long text is read by the same rules", () => {
  const bytes = Uint8Array.from({length: 5000}, (_, at) => (at * 37) & 0xff);
  const digits = Buffer.from(bytes).toString("hex");
  for (const text of [`0x${digits}`, `0X${digits.toUpperCase()}`])
    assert.deepEqual(decodeHexBytes(text), bytes);
  for (const wrong of ["g0", " 0", "0_", "\u00e90", "\u01300", "\uff110", "\u{1f600}"]) {
    assert.equal(decodeHexBytes(`0x${digits}${wrong}`), undefined, wrong);
    assert.equal(decodeHexBytes(`0x${wrong}${digits}`), undefined, wrong);
  }
  assert.equal(decodeHexBytes(`0x${digits}0`), undefined);
  assert.equal(decodeHexBytes(digits), undefined);
});
