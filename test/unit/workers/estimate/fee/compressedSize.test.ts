import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import fc from "fast-check";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {compressedSize} from "../../../../../workers/estimate/fee/compressedSize.ts";

const SENDER = noise(20, "sender");

/** Signatures that are called most; what they are for says the dictionary. */
const SIGNATURES = [
  "handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)",
  "swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)",
  "swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
  "swapExactTokensForETH(uint256,uint256,address[],address,uint256)",
  "swapExactETHForTokens(uint256,address[],address,uint256)",
  "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
  "multicall(bytes[])",
  "multicall(uint256,bytes[])",
  "execute(bytes,bytes[],uint256)",
  "safeTransferFrom(address,address,uint256)",
  "setApprovalForAll(address,bool)",
  "deposit()",
  "withdraw(uint256)",
  "transferFrom(address,address,uint256)",
  "approve(address,uint256)",
  "transfer(address,uint256)",
];

/** Bytes that do not compress, the same every time. */
function noise(bytes: number, seed: string): Buffer {
  const blocks = Array.from({length: Math.ceil(bytes / 32)}, (_, at) =>
    createHash("sha256").update(`${seed} ${at}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
}

function selectorOf(signature: string): Buffer {
  return Buffer.from(keccak_256(Buffer.from(signature)).subarray(0, 4));
}

/** An unsigned transaction with `data`, as long as they are. */
function transaction(data: Uint8Array): Buffer {
  return Buffer.concat([noise(12, "head"), noise(20, "receiver"), data]);
}

test("the size is never above sender and transaction as they are", () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 600}), unsigned => {
      const size = compressedSize(SENDER, unsigned);
      assert.ok(size > 0 && size <= 20 + unsigned.length);
    }),
  );
  for (const bytes of [0, 1, 100, 5000, 128 << 10, (128 << 10) + 1])
    assert.equal(compressedSize(SENDER, noise(bytes, "noise")), 20 + bytes, `${bytes} bytes`);
});

test("a token transfer takes less than its receiver, its amount and 30 bytes over what is not data", () => {
  const amount = Buffer.concat([new Uint8Array(24), noise(8, "amount")]);
  const data = Buffer.concat([
    selectorOf("transfer(address,uint256)"),
    new Uint8Array(12),
    noise(20, "to"),
    amount,
  ]);
  const size = compressedSize(SENDER, transaction(data));
  assert.ok(size <= 20 + 32 + 20 + 8 + 30, `${size} bytes`);
  assert.ok(size < 20 + 32 + data.length - 20, `${size} bytes`);
});

test("every call in the dictionary compresses to less than one with an unknown selector", () => {
  for (const signature of SIGNATURES) {
    const call = (selector: Uint8Array) =>
      compressedSize(
        SENDER,
        transaction(Buffer.concat([selector, new Uint8Array(12), noise(20, "to"), noise(32, "word")])),
      );
    assert.ok(call(selectorOf(signature)) < call(noise(4, signature)), signature);
  }
});

test("what repeats within a long transaction counts about once", () => {
  const page = noise(1000, "page");
  const once = compressedSize(SENDER, page);
  const twenty = compressedSize(SENDER, Buffer.concat(new Array(20).fill(page)));
  assert.ok(twenty < once + 20 * 60, `${twenty} bytes`);
  const long = compressedSize(SENDER, Buffer.concat(new Array(200).fill(page)));
  assert.ok(long < once + 200 * 60, `${long} bytes`);
});

test("2.4 MB made to keep a compressor busy are compressed in less than half a second of processor time", () => {
  const data = new Uint8Array(2_400_000);
  const random = xoroshiro128plus(1);
  for (let at = 0; at < data.length; at++) data[at] = random.next() & 1;
  const start = process.cpuUsage();
  assert.ok(compressedSize(SENDER, data) < data.length / 2);
  const {user, system} = process.cpuUsage(start);
  assert.ok(user + system < 400_000);
});
