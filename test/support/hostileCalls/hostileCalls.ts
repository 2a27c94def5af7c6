/**
 * Calls that keep a worker busy on purpose, each with as much work as 50 million gas buys. Some of them end by themselves.
 *
 * The code comes as an override. Some of it is longer than the front takes (24 576 bytes): the threads get these calls directly.
 */

import {createHash} from "node:crypto";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {word} from "../../../demo/abi.ts";
import {assemble, loopForever, OP, type Part, pushWidth, repeat, withMemory} from "../estimates/bytecode.ts";
import {blsField, blsG1, blsG2, bnG1, bnG2} from "../estimates/curvePoints.ts";
import {
  callPrecompile,
  ENDLESS,
  GROW,
  HELPER_ADDRESS,
  type HostileCall,
  hostile,
  LONGEST_CODE,
  loopAt,
  MAX_WORD,
  MUCH_MEMORY,
} from "./hostileCall.ts";

const HALF = word(bls12_381.fields.Fr.ORDER - 1n);

function precompileCalls(): readonly HostileCall[] {
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

function memoryCalls(): readonly HostileCall[] {
  return [
    hostile("memory that grows by a word", loopForever(1n, OP.MSIZE, OP.MSTORE)),
    hostile(
      "memory that grows by 8 KB, straight on",
      repeat(assemble(1n, OP.MSIZE, 8190n, OP.ADD, OP.MSTORE), 100_000),
    ),
    hostile(
      "MCOPY of 4 MB",
      assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, 1n, OP.MCOPY), 100_000)),
    ),
    hostile(
      "CODECOPY of 2 MB, straight on",
      assemble(repeat(assemble(pushWidth(2_000_000n, 3), 0n, 0n, OP.CODECOPY), LONGEST_CODE)),
    ),
    hostile("EXTCODECOPY of 24 KB in a loop", loopForever(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), {
      helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000),
    }),
    hostile(
      "EXTCODECOPY of 24 KB, straight on",
      repeat(assemble(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), LONGEST_CODE),
      {helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000)},
    ),
    hostile(
      "returned data of 2 MB, again and again",
      loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
      {helper: assemble(2_000_000n, 0n, OP.RETURN)},
    ),
    hostile(
      "revert data of 2 MB, again and again",
      loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
      {helper: assemble(2_000_000n, 0n, OP.REVERT)},
    ),
    hostile(
      "calls with 4 MB of input to an account without code",
      assemble(GROW, repeat(callPrecompile(0xdeadn, MUCH_MEMORY), LONGEST_CODE)),
    ),
    hostile(
      "calls with 4 MB of input and more value than there is",
      assemble(
        GROW,
        repeat(
          assemble(0n, 0n, MUCH_MEMORY, 0n, MAX_WORD, HELPER_ADDRESS, 0n, OP.CALL, OP.POP),
          LONGEST_CODE,
        ),
      ),
    ),
    hostile(
      "4 MB through the identity precompile",
      assemble(GROW, loopAt(callPrecompile(4n, MUCH_MEMORY), GROW.length)),
    ),
    hostile("logs of 100 KB", loopForever(100_000n, 0n, OP.LOG0)),
    hostile("logs of nothing", loopForever(0n, 0n, OP.LOG0)),
    hostile(
      "logs of nothing, and calls that pass them on",
      loopForever(
        ...new Array(20).fill(assemble(0n, 0n, OP.LOG0)),
        ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
      ),
      {helper: assemble(OP.STOP)},
    ),
  ];
}

const LONGEST_INITCODE = 49_152;

function frameCalls(): readonly HostileCall[] {
  return [
    hostile("recursion, straight down", callSelf(assemble())),
    hostile(
      "recursion that branches twice at every level",
      assemble(callSelf(assemble()), callSelf(assemble())),
      ENDLESS,
    ),
    hostile(
      "recursion with 100 KB of memory at every level",
      assemble(callSelf(assemble(1n, 100_000n, OP.MSTORE)), callSelf(assemble())),
    ),
    hostile(
      "recursion with 100 KB of memory and input at every level",
      assemble(
        1n,
        100_000n,
        OP.MSTORE,
        0n,
        0n,
        100_000n,
        0n,
        0n,
        OP.ADDRESS,
        OP.GAS,
        OP.CALL,
        callSelf(assemble()),
      ),
    ),
    hostile(
      "CREATE2 of 48 KB of JUMPDESTs",
      withMemory(
        repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_INITCODE),
        assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
      ),
    ),
    hostile(
      "CREATE2 of 48 KB of PUSH1 to be analysed",
      withMemory(
        assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), LONGEST_INITCODE - 6)),
        assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
      ),
    ),
    hostile(
      "CREATE of 2 MB of PUSH1 to be analysed, before EIP-3860",
      withMemory(
        assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 2_000_000)),
        assemble(OP.JUMPDEST, assemble(2_000_000n, 0n, 0n, OP.CREATE, OP.POP), 11n, OP.JUMP),
      ),
      {hardfork: "london"},
    ),
    hostile(
      "creations of empty accounts, and calls that pass them on",
      loopForever(
        ...new Array(5).fill(assemble(0n, 0n, 0n, OP.CREATE, OP.POP)),
        ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
      ),
      {helper: assemble(OP.STOP)},
    ),
    hostile(
      "creation with 1.2 MB of PUSH1 as its code",
      assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 1_200_000)),
      {hardfork: "london", isCreation: true},
    ),
  ];
}

/** Runs `before`, then the same code again with `gas`. */
function callSelf(before: Uint8Array, gas: Part = OP.GAS): Uint8Array {
  return assemble(before, 0n, 0n, 0n, 0n, 0n, OP.ADDRESS, gas, OP.CALL);
}

/** CREATE2 of the first `bytes` of memory. The remaining gas is the salt. */
function create2(bytes: bigint): Uint8Array {
  return assemble(OP.GAS, bytes, 0n, 0n, OP.CREATE2, OP.POP);
}

function codeCalls(): readonly HostileCall[] {
  return [
    hostile("an empty loop", loopForever(), ENDLESS),
    hostile("a loop of pushes and pops", loopForever(...new Array(400).fill(assemble(1n, OP.POP)))),
    hostile("24 KB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), 24_570)), ENDLESS),
    hostile("2.4 MB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE))),
    hostile("2.4 MB of JUMPDESTs, run through once", repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE)),
    hostile(
      "2.4 MB of PUSH32 and POP, run through once",
      repeat(assemble(pushWidth(1n, 32), OP.POP), LONGEST_CODE),
    ),
    hostile(
      "2.4 MB of PUSH1 to be analysed again and again, by calls of itself",
      assemble(
        0n,
        0n,
        OP.JUMPI,
        0n,
        0n,
        0n,
        0n,
        0n,
        OP.ADDRESS,
        OP.GAS,
        OP.CALL,
        OP.STOP,
        repeat(assemble(1n), LONGEST_CODE),
      ),
    ),
    hostile(
      "2.4 MB of ISZERO, run through once",
      assemble(0n, repeat(Uint8Array.of(OP.ISZERO), LONGEST_CODE)),
    ),
    hostile(
      "2.4 MB of MULMOD of large numbers",
      assemble(
        MAX_WORD,
        MAX_WORD,
        repeat(assemble(OP.DUP2, OP.DUP2, OP.DUP2, OP.MULMOD, OP.POP), LONGEST_CODE),
      ),
    ),
    hostile(
      "2.4 MB of EXP with the largest exponents",
      assemble(MAX_WORD, repeat(assemble(OP.DUP1, OP.DUP1, OP.EXP, OP.POP), LONGEST_CODE)),
    ),
    hostile(
      "KECCAK256 over 4 MB, straight on",
      assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, OP.KECCAK256, OP.POP), 100_000)),
    ),
    hostile(
      "KECCAK256 over 100 KB, straight on",
      assemble(
        1n,
        100_000n,
        OP.MSTORE,
        repeat(assemble(pushWidth(100_000n, 3), 0n, OP.KECCAK256, OP.POP), LONGEST_CODE),
      ),
    ),
    hostile("KECCAK256 over 4 MB in a loop", loopForever(MUCH_MEMORY, 0n, OP.KECCAK256, OP.POP)),
  ];
}

function storeCalls(): readonly HostileCall[] {
  return [
    hostile(
      "SLOAD of cold slots, straight on",
      assemble(repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE)),
    ),
    hostile("SSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.SSTORE), LONGEST_CODE)),
    hostile("SSTORE of one slot, straight on", repeat(assemble(OP.PC, 1n, OP.SSTORE), LONGEST_CODE)),
    hostile("TSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.TSTORE), LONGEST_CODE)),
    hostile("BLOCKHASH, straight on", repeat(assemble(0n, OP.BLOCKHASH, OP.POP), LONGEST_CODE)),
  ];
}

export function createHostileCalls(): readonly HostileCall[] {
  return [
    ...codeCalls(),
    ...memoryCalls(),
    ...frameCalls(),
    ...storeCalls(),
    ...precompileCalls(),
    // The transaction itself is long.
    hostile("2.4 MB of call data that compresses badly", assemble(OP.STOP), {
      hardfork: "london",
      data: badlyCompressed(2_400_000),
    }),
  ];
}

/** Near repeats at many distances, which make a compressor search longest. */
function badlyCompressed(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) data[at] = at % 259 === 258 ? (at / 259) & 0xff : 0;
  return data;
}
