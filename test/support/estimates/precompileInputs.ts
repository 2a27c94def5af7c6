/** Inputs for each precompile, valid unless the title says otherwise: [title, precompile, input]. */
import {bls12_381} from "@noble/curves/bls12-381.js";
import {bn254} from "@noble/curves/bn254.js";
import {p256} from "@noble/curves/nist.js";
import {secp256k1} from "@noble/curves/secp256k1.js";
import {word} from "../../../demo/abi.ts";
import {blsField, blsG1, blsG2, bnG1, bnG2} from "./curvePoints.ts";

export function precompileInputs(): readonly (readonly [string, number, Uint8Array])[] {
  const minus2OfBn = bn254.fields.Fr.ORDER - 2n;
  const minus2OfBls = bls12_381.fields.Fr.ORDER - 2n;
  return [
    ["ecrecover", 1, recoverable()],
    ["ecrecover of nothing", 1, new Uint8Array(0)],
    ["sha256", 2, Buffer.alloc(100, 1)],
    ["ripemd160", 3, Buffer.alloc(100, 1)],
    ["identity", 4, Buffer.alloc(100, 1)],
    ["modexp, small", 5, modexp(1, 1, 1)],
    ["modexp, 32 bytes", 5, modexp(32, 32, 32)],
    ["modexp, 256 bytes to 3 bytes", 5, modexp(256, 3, 256)],
    ["modexp, 256 bytes to 256 bytes", 5, modexp(256, 256, 256)],
    ["modexp, 1024 bytes to 1 byte", 5, modexp(1024, 1, 1024)],
    ["modexp, no modulus", 5, modexp(10, 10, 0)],
    ["modexp of nothing", 5, new Uint8Array(0)],
    ["bn254 addition", 6, Buffer.concat([bnG1(2n), bnG1(3n)])],
    ["bn254 multiplication", 7, Buffer.concat([bnG1(2n), word(77n)])],
    ["bn254 pairing", 8, Buffer.concat([bnG1(2n), bnG2(1n), bnG1(minus2OfBn), bnG2(1n)])],
    ["bn254 pairing of nothing", 8, new Uint8Array(0)],
    ["blake2f, 12 rounds", 9, blake(12)],
    ["blake2f, 20 000 rounds", 9, blake(20_000)],
    ["bls12-381 G1 addition", 0x0b, Buffer.concat([blsG1(2n), blsG1(3n)])],
    ["bls12-381 G1 sum of 1", 0x0c, Buffer.concat([blsG1(2n), word(5n)])],
    [
      "bls12-381 G1 sum of 3",
      0x0c,
      Buffer.concat([2n, 3n, 4n].map(n => Buffer.concat([blsG1(n), word(n << 200n)]))),
    ],
    ["bls12-381 G2 addition", 0x0d, Buffer.concat([blsG2(2n), blsG2(3n)])],
    ["bls12-381 G2 sum of 2", 0x0e, Buffer.concat([2n, 3n].map(n => Buffer.concat([blsG2(n), word(n)])))],
    ["bls12-381 pairing", 0x0f, Buffer.concat([blsG1(2n), blsG2(1n), blsG1(minus2OfBls), blsG2(1n)])],
    ["bls12-381 field to G1", 0x10, blsField(7n)],
    ["bls12-381 field to G2", 0x11, Buffer.concat([blsField(7n), blsField(8n)])],
    ["secp256r1", 0x100, verifiable()],
    ["secp256r1 of nothing", 0x100, new Uint8Array(0)],
  ];
}

/** Hash, v, r, s. */
function recoverable(): Uint8Array {
  const hash = Buffer.alloc(32, 0x11);
  const signature = secp256k1.sign(hash, Buffer.alloc(32, 7), {prehash: false, format: "recovered"});
  const [recovery = 0, ...rs] = signature;
  return Buffer.concat([hash, word(BigInt(27 + recovery)), Buffer.from(rs)]);
}

/** EIP-7951: hash, r, s, x, y. */
function verifiable(): Uint8Array {
  const hash = Buffer.alloc(32, 0x11);
  const key = Buffer.alloc(32, 7);
  const rs = p256.sign(hash, key, {prehash: false, format: "compact"});
  return Buffer.concat([hash, rs, p256.getPublicKey(key, false).subarray(1)]);
}

/** Lengths in bytes; every byte of the numbers is 0xf1. */
function modexp(base: number, exponent: number, modulus: number): Uint8Array {
  const lengths = [base, exponent, modulus].map(length => word(BigInt(length)));
  return Buffer.concat([...lengths, Buffer.alloc(base + exponent + modulus, 0xf1)]);
}

/** EIP-152: rounds, state, message, offset, final. */
function blake(rounds: number): Uint8Array {
  const input = Buffer.alloc(213, 3);
  input.writeUInt32BE(rounds);
  input[212] = 1;
  return input;
}
