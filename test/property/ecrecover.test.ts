/** Recovery in WebAssembly against that of @noble/curves. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {ecrecover as reference} from "@ethereumjs/util";
import {secp256k1} from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import {ecrecover} from "../../evm/interpreter/ecrecover.ts";

const CHAIN_ID = 59_144n;
const ORDER = secp256k1.Point.Fn.ORDER;
const FIELD = secp256k1.Point.Fp.ORDER;

type Recover = typeof ecrecover;

const word = fc.uint8Array({minLength: 32, maxLength: 32});
const anyV = fc.constantFrom(0n, 1n, 2n, 26n, 27n, 28n, 29n, 35n, 2n * CHAIN_ID + 35n, 2n * CHAIN_ID + 36n);
const chainId = fc.constantFrom(undefined, CHAIN_ID);
/** What a signature may not have, and what is next to it. */
const edge = fc
  .constantFrom(0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, FIELD, 2n ** 256n - 1n)
  .map(toWord);

test("whatever r, s and v are, recovery gives the key of the reference, or refuses as it does", () => {
  const part = fc.oneof(word, edge, fc.uint8Array({maxLength: 31}));
  fc.assert(
    fc.property(fc.oneof(word, edge), anyV, part, part, chainId, (...signature) => {
      assert.deepEqual(attempt(ecrecover, signature), attempt(reference, signature));
    }),
    {numRuns: 300},
  );
});

function attempt(recover: Recover, signature: Parameters<Recover>): string {
  try {
    return Buffer.from(recover(...signature)).toString("hex");
  } catch {
    return "refused";
  }
}

function toWord(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}
