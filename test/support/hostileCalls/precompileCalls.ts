/** Precompiles with as much work as the gas buys: one long input, or a short input in a loop. */
import {createHash} from "node:crypto";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {word} from "../../../demo/abi.ts";
import {assemble, OP, repeat, withMemory} from "../estimates/bytecode.ts";
import {blsField, blsG1, blsG2, bnG1, bnG2} from "../estimates/curvePoints.ts";
import {callPrecompile, GROW, type HostileCall, hostile, loopAt, MUCH_MEMORY} from "./hostileCall.ts";

const HALF = word(bls12_381.fields.Fr.ORDER - 1n);

export function precompileCalls(): readonly HostileCall[] {
  return [
    hostile("ecrecover", inLoop(1n, Buffer.concat([word(5n), word(27n), word(7n), word(9n)]))),
    hostile("sha256 of 4 MB", assemble(GROW, loopAt(callPrecompile(2n, MUCH_MEMORY), GROW.length))),
    hostile("sha256 of 100 KB", assemble(1n, 100_000n, OP.MSTORE, loopAt(callPrecompile(2n, 100_000n), 7))),
    hostile(
      "ripemd160 of 2 MB",
      assemble(1n, 2_000_000n, OP.MSTORE, loopAt(callPrecompile(3n, 2_000_000n), 7)),
    ),
    // What 50 million gas (osaka: 2^24) buys under each price. Prague has that of berlin.
    ...modexpCalls("prague", 1100, 95_000),
    ...modexpCalls("osaka", 48, 1000),
    hostile("bn254 addition", inLoop(6n, bn254Pairs(1).subarray(0, 64))),
    hostile("bn254 multiplication", inLoop(7n, Buffer.concat([bn254Pairs(1).subarray(0, 64), HALF]))),
    hostile("bn254 pairing of 1400 pairs", once(8n, bn254Pairs(1400)), {isLong: true}),
    hostile("bn254 pairing of one pair, in a loop", inLoop(8n, bn254Pairs(1))),
    hostile("blake2f of all rounds there are", once(9n, blake2f(0xffff_ffff))),
    hostile("blake2f of 45 million rounds", once(9n, blake2f(45_000_000)), {isLong: true}),
    hostile("point evaluation", inLoop(10n, pointEvaluation()), {isLong: true}),
    hostile("BLS12-381 addition in G1", inLoop(0x0bn, Buffer.concat([blsG1(3n), blsG1(5n)]))),
    hostile("BLS12-381 MSM of 1 point in G1", inLoop(0x0cn, Buffer.concat([blsG1(3n), HALF]))),
    hostile("BLS12-381 MSM of 6000 points in G1", once(0x0cn, times(Buffer.concat([blsG1(3n), HALF]), 6000))),
    hostile("BLS12-381 addition in G2", inLoop(0x0dn, Buffer.concat([blsG2(3n), blsG2(5n)]))),
    hostile("BLS12-381 MSM of 3000 points in G2", once(0x0en, times(Buffer.concat([blsG2(3n), HALF]), 3000))),
    hostile(
      "BLS12-381 pairing of 1300 pairs",
      once(0x0fn, times(Buffer.concat([blsG1(3n), blsG2(5n)]), 1300)),
    ),
    hostile("BLS12-381 map to G1", inLoop(0x10n, blsField(12345n))),
    hostile("BLS12-381 map to G2", inLoop(0x11n, Buffer.concat([blsField(12345n), blsField(6789n)]))),
    hostile("p256 verification", inLoop(0x100n, Buffer.concat([1n, 2n, 3n, 4n, 5n].map(word))), {
      hardfork: "osaka",
    }),
  ];
}

function modexpCalls(hardfork: string, longBytes: number, hugeBytes: number): readonly HostileCall[] {
  const fork = {hardfork};
  const declared = (bytes: bigint) => Buffer.concat([word(1n), word(bytes), word(1n), Uint8Array.of(2, 1)]);
  return [
    hostile("modexp of 1 KB", once(5n, modexp(twos(1024), ones(longBytes), ones(1024))), fork),
    hostile("modexp of many KB", once(5n, modexp(twos(hugeBytes), Uint8Array.of(3), ones(hugeBytes))), fork),
    hostile("modexp of 64 bytes in a loop", inLoop(5n, modexp(twos(64), ones(40), ones(64))), fork),
    hostile(
      "modexp of 1 byte with an exponent of 100 KB",
      once(5n, modexp(twos(1), ones(100_000), ones(1))),
      fork,
    ),
    hostile(
      "modexp of 1 byte with an exponent of 4 MB",
      once(5n, modexp(twos(1), ones(4_000_000), ones(1))),
      fork,
    ),
    hostile("modexp with an exponent of 18 MB, most of it not there", once(5n, declared(18_000_000n)), fork),
    hostile(
      "modexp with an exponent of 120 MB, most of it not there",
      once(5n, declared(120_000_000n)),
      fork,
    ),
  ];
}

function once(address: bigint, input: Uint8Array): Uint8Array {
  return withMemory(input, assemble(callPrecompile(address, BigInt(input.length)), OP.STOP));
}

/** The input is written once. The jump target takes PUSH3, so that the loop's position depends on nothing else. */
function inLoop(address: bigint, input: Uint8Array): Uint8Array {
  const call = callPrecompile(address, BigInt(input.length));
  return withMemory(input, assemble(OP.JUMPDEST, call, 11n, OP.JUMP));
}

function modexp(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array {
  const lengths = [base, exponent, modulus].map(({length}) => word(BigInt(length)));
  return Buffer.concat([...lengths, base, exponent, modulus]);
}

function ones(bytes: number): Uint8Array {
  return new Uint8Array(bytes).fill(0xff);
}

/** Smaller than `ones` as a number, and no factor of it. */
function twos(bytes: number): Uint8Array {
  return new Uint8Array(bytes).fill(0x22);
}

function blake2f(rounds: number): Uint8Array {
  const input = Buffer.alloc(213, 7);
  input.writeUInt32BE(rounds, 0);
  input[212] = 1;
  return input;
}

function bn254Pairs(count: number): Uint8Array {
  return times(Buffer.concat([bnG1(7n), bnG2(9n)]), count);
}

function times(part: Uint8Array, count: number): Uint8Array {
  return repeat(part, part.length * count);
}

/** A valid proof of EIP-4844. All valid proofs take the same time. */
function pointEvaluation(): Uint8Array {
  // y = 3 for the constant polynomial 3, z anything: the proof is at infinity, the commitment is [3]G1.
  const commitment = bls12_381.G1.Point.BASE.multiply(3n).toBytes(true);
  const hash = createHash("sha256").update(commitment).digest();
  hash[0] = 1;
  return Buffer.concat([hash, word(5n), word(3n), commitment, Uint8Array.of(0xc0, ...new Uint8Array(47))]);
}
