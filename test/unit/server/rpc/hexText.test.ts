import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHexBytes, decodeHexInto} from "../../../../server/rpc/hexText.ts";

function decode(text: string, byteCount: number): string | undefined {
  const out = Buffer.alloc(byteCount + 2, 0xee);
  if (!decodeHexInto(text, out, 1, byteCount)) return undefined;
  assert.equal(out[0], 0xee);
  assert.equal(out[byteCount + 1], 0xee);
  return out.toString("hex", 1, byteCount + 1);
}

test("characters that only look like digits by their low byte are refused", () => {
  for (const digit of ["\u0130", "\uff11", "\u0660", "\ud835\udfce"]) {
    assert.equal(decode(`0x${digit}`, 8), undefined);
    assert.equal(decode(`0x1${digit}`, 8), undefined);
    assert.equal(decode(`0x${digit}1`, 8), undefined);
  }
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
