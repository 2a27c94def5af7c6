/**
 * Calls made to keep a worker busy, as much of each as 50 million gas buys, and calls that end by themselves beside them.
 *
 * The code is put in place by override, so it may be longer than what a chain would hold: up to 2.4 MB of it come in
 * with one request of 5 MiB.
 */
import {createHash} from "node:crypto";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {bn254} from "@noble/curves/bn254.js";
import {assemble, loopForever, OP, type Part, pushWidth, repeat, withMemory} from "./bytecode.ts";

export interface HostileCall {
  readonly title: string;
  readonly hardfork: string;
  /** At `HOSTILE`. */
  readonly code: Uint8Array;
  /** At `HELPER`. */
  readonly helper?: Uint8Array;
  readonly data?: Uint8Array;
  /** The code is the data of a creation. */
  readonly isCreation?: boolean;
  /** Would take seconds on any machine. */
  readonly isLong?: boolean;
}

const HOSTILE_ADDRESS = 0xbad0n;
const HELPER_ADDRESS = 0xbad1n;
export const HOSTILE = addressBytes(HOSTILE_ADDRESS);
export const HELPER = addressBytes(HELPER_ADDRESS);
/** Has slots 0 to `STORED_SLOTS` - 1 in the test's store. */
export const STORED_SLOTS = 3000;

/** The longest code that a request of 5 MiB brings. */
const LONGEST_CODE = 2_400_000;
const LONGEST_INITCODE = 49_152;
/** Gas to pass on: before EIP-150 it must be there after the price of the call. */
const LEFT = assemble(2000n, OP.GAS, OP.SUB);
/** Memory of 4 MB costs 33 million gas. */
const MUCH_MEMORY = 4_000_000n;
const BLS_ORDER = bls12_381.fields.Fr.ORDER;

/** PUSH1 0 .. PUSH1 0, then `GAS STATICCALL`, the result dropped: `data` from memory 0 to a precompile. */
function callPrecompile(address: bigint, dataBytes: bigint, gas: Part = OP.GAS): Uint8Array {
  return assemble(0n, 0n, dataBytes, 0n, address, gas, OP.STATICCALL, OP.POP);
}

function once(address: bigint, input: Uint8Array): Uint8Array {
  return withMemory(input, assemble(callPrecompile(address, BigInt(input.length)), OP.STOP));
}

/** The input is laid down once; PUSH3 target, since the loop's place depends on nothing else. */
function inLoop(address: bigint, input: Uint8Array): Uint8Array {
  const call = callPrecompile(address, BigInt(input.length));
  return withMemory(input, assemble(OP.JUMPDEST, call, 11n, OP.JUMP));
}

function word(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

function addressBytes(address: bigint): Uint8Array {
  return Buffer.from(address.toString(16).padStart(40, "0"), "hex");
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
  const {x, y} = bn254.G1.Point.BASE.multiply(7n).toAffine();
  const q = bn254.G2.Point.BASE.multiply(9n).toAffine();
  const pair = Buffer.concat([x, y, q.x.c1, q.x.c0, q.y.c1, q.y.c0].map(word));
  return repeat(pair, pair.length * count);
}

/** EIP-2537: 16 zero bytes, then 48. */
function blsField(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(128, "0"), "hex");
}

function blsG1(scalar: bigint): Uint8Array {
  const {x, y} = bls12_381.G1.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([x, y].map(blsField));
}

function blsG2(scalar: bigint): Uint8Array {
  const {x, y} = bls12_381.G2.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map(blsField));
}

function times(part: Uint8Array, count: number): Uint8Array {
  return repeat(part, part.length * count);
}

/** EIP-4844: commitment and proof at infinity, the polynomial 0: valid, and as long as any other. */
function pointEvaluation(): Uint8Array {
  // y = 3 for the constant polynomial 3, z anything: the proof is at infinity, the commitment is [3]G1.
  const commitment = bls12_381.G1.Point.BASE.multiply(3n).toBytes(true);
  const hash = createHash("sha256").update(commitment).digest();
  hash[0] = 1;
  return Buffer.concat([hash, word(5n), word(3n), commitment, Uint8Array.of(0xc0, ...new Uint8Array(47))]);
}

const HALF = word(BLS_ORDER - 1n);
/** DUPs leave 32 bytes of ones and use two bytes of code. */
const MAX_WORD = assemble(0n, OP.NOT);
const GROW = assemble(1n, MUCH_MEMORY, OP.MSTORE);

export function createHostileCalls(): HostileCall[] {
  const calls: HostileCall[] = [];
  const add = (title: string, code: Uint8Array, more: Partial<HostileCall> = {}): void => {
    calls.push({title, hardfork: "prague", code, ...more});
  };

  // Loops and straight code.
  add("an empty loop", loopForever(), {isLong: true});
  add("a loop of pushes and pops", loopForever(...new Array(400).fill(assemble(1n, OP.POP))));
  add("24 KB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), 24_570)), {
    isLong: true,
  });
  add("2.4 MB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE)));
  add("2.4 MB of JUMPDESTs, run through once", repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE));
  add(
    "2.4 MB of PUSH32 and POP, run through once",
    repeat(assemble(pushWidth(1n, 32), OP.POP), LONGEST_CODE),
  );
  add(
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
  );
  add("2.4 MB of ISZERO, run through once", assemble(0n, repeat(Uint8Array.of(OP.ISZERO), LONGEST_CODE)));
  add(
    "2.4 MB of MULMOD of large numbers",
    assemble(
      MAX_WORD,
      MAX_WORD,
      repeat(assemble(OP.DUP2, OP.DUP2, OP.DUP2, OP.MULMOD, OP.POP), LONGEST_CODE),
    ),
  );
  add(
    "2.4 MB of EXP with the largest exponents",
    assemble(MAX_WORD, repeat(assemble(OP.DUP1, OP.DUP1, OP.EXP, OP.POP), LONGEST_CODE)),
  );
  add(
    "EXP at the price before EIP-160",
    assemble(MAX_WORD, repeat(assemble(OP.DUP1, OP.DUP1, OP.EXP, OP.POP), LONGEST_CODE)),
    {hardfork: "homestead"},
  );
  add(
    "KECCAK256 over 4 MB, straight on",
    assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, OP.KECCAK256, OP.POP), 100_000)),
  );
  add(
    "KECCAK256 over 100 KB, straight on",
    assemble(
      1n,
      100_000n,
      OP.MSTORE,
      repeat(assemble(pushWidth(100_000n, 3), 0n, OP.KECCAK256, OP.POP), LONGEST_CODE),
    ),
  );
  add("KECCAK256 over 4 MB in a loop", loopForever(MUCH_MEMORY, 0n, OP.KECCAK256, OP.POP));

  // Memory.
  add("memory that grows by a word", loopForever(1n, OP.MSIZE, OP.MSTORE));
  add(
    "memory that grows by 8 KB, straight on",
    repeat(assemble(1n, OP.MSIZE, 8190n, OP.ADD, OP.MSTORE), 100_000),
  );
  add(
    "MCOPY of 4 MB",
    assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, 1n, OP.MCOPY), 100_000)),
  );
  add(
    "CODECOPY of 2 MB, straight on",
    assemble(repeat(assemble(pushWidth(2_000_000n, 3), 0n, 0n, OP.CODECOPY), LONGEST_CODE)),
  );
  add("EXTCODECOPY of 24 KB in a loop", loopForever(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), {
    helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000),
  });
  add(
    "EXTCODECOPY of 24 KB, straight on",
    repeat(assemble(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), LONGEST_CODE),
    {helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000)},
  );
  add(
    "returned data of 2 MB, again and again",
    loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
    {helper: assemble(2_000_000n, 0n, OP.RETURN)},
  );
  add(
    "revert data of 2 MB, again and again",
    loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
    {helper: assemble(2_000_000n, 0n, OP.REVERT)},
  );
  add(
    "calls with 4 MB of input to an account without code",
    assemble(GROW, repeat(callPrecompile(0xdeadn, MUCH_MEMORY), LONGEST_CODE)),
  );
  add(
    "calls with 4 MB of input and more value than there is",
    assemble(
      GROW,
      repeat(assemble(0n, 0n, MUCH_MEMORY, 0n, MAX_WORD, HELPER_ADDRESS, 0n, OP.CALL, OP.POP), LONGEST_CODE),
    ),
  );
  add(
    "4 MB through the identity precompile",
    assemble(GROW, loopAt(callPrecompile(4n, MUCH_MEMORY), GROW.length)),
  );
  add("logs of 100 KB", loopForever(100_000n, 0n, OP.LOG0));
  add("logs of nothing", loopForever(0n, 0n, OP.LOG0));
  add(
    "logs of nothing, and calls that pass them on",
    loopForever(
      ...new Array(20).fill(assemble(0n, 0n, OP.LOG0)),
      ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
    ),
    {helper: assemble(OP.STOP)},
  );

  // Calls and creations.
  const callSelf = (before: Uint8Array, gas: Part = OP.GAS) =>
    assemble(before, 0n, 0n, 0n, 0n, 0n, OP.ADDRESS, gas, OP.CALL);
  add("recursion, straight down", callSelf(assemble()));
  add("recursion that branches twice at every level", assemble(callSelf(assemble()), callSelf(assemble())), {
    isLong: true,
  });
  add(
    "recursion with 100 KB of memory at every level",
    assemble(callSelf(assemble(1n, 100_000n, OP.MSTORE)), callSelf(assemble())),
  );
  add(
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
  );
  add(
    "recursion before EIP-150, where all gas goes down",
    assemble(callSelf(assemble(1n, 20_000n, OP.MSTORE), LEFT), callSelf(assemble(), LEFT)),
    {hardfork: "homestead"},
  );
  const create2 = (bytes: bigint) => assemble(OP.GAS, bytes, 0n, 0n, OP.CREATE2, OP.POP);
  add(
    "CREATE2 of 48 KB of JUMPDESTs",
    withMemory(
      repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_INITCODE),
      assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
    ),
  );
  add(
    "CREATE2 of 48 KB of PUSH1 to be analysed",
    withMemory(
      assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), LONGEST_INITCODE - 6)),
      assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
    ),
  );
  add(
    "CREATE of 2 MB of PUSH1 to be analysed, before EIP-3860",
    withMemory(
      assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 2_000_000)),
      assemble(OP.JUMPDEST, assemble(2_000_000n, 0n, 0n, OP.CREATE, OP.POP), 11n, OP.JUMP),
    ),
    {hardfork: "london"},
  );
  add(
    "creations of empty accounts, and calls that pass them on",
    loopForever(
      ...new Array(5).fill(assemble(0n, 0n, 0n, OP.CREATE, OP.POP)),
      ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
    ),
    {helper: assemble(OP.STOP)},
  );
  add(
    "creation with 1.2 MB of PUSH1 as its code",
    assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 1_200_000)),
    {hardfork: "london", isCreation: true},
  );

  // Reads of the store.
  add("SLOAD of cold slots, straight on", assemble(repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE)));
  add(
    "SLOAD of cold slots at the price of istanbul",
    repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE),
    {hardfork: "istanbul"},
  );
  add("SLOAD of cold slots before EIP-150", repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE), {
    hardfork: "homestead",
  });
  add("BALANCE of cold accounts before EIP-150", repeat(assemble(OP.PC, OP.BALANCE, OP.POP), LONGEST_CODE), {
    hardfork: "homestead",
  });
  add("SSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.SSTORE), LONGEST_CODE));
  add("SSTORE of one slot, straight on", repeat(assemble(OP.PC, 1n, OP.SSTORE), LONGEST_CODE));
  add("TSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.TSTORE), LONGEST_CODE));
  add("BLOCKHASH, straight on", repeat(assemble(0n, OP.BLOCKHASH, OP.POP), LONGEST_CODE));

  // Precompiles.
  add("ecrecover", inLoop(1n, Buffer.concat([word(5n), word(27n), word(7n), word(9n)])));
  add("sha256 of 4 MB", assemble(GROW, loopAt(callPrecompile(2n, MUCH_MEMORY), GROW.length)));
  add("sha256 of 100 KB", assemble(1n, 100_000n, OP.MSTORE, loopAt(callPrecompile(2n, 100_000n), 7)));
  add("ripemd160 of 2 MB", assemble(1n, 2_000_000n, OP.MSTORE, loopAt(callPrecompile(3n, 2_000_000n), 7)));
  // What 50 million gas (osaka: 2^24) buys under each price.
  for (const [hardfork, longBytes, hugeBytes] of [
    ["byzantium", 340, 119_000],
    ["london", 1100, 95_000],
    ["osaka", 48, 1000],
  ] as const) {
    const fork = {hardfork};
    add("modexp of 1 KB", once(5n, modexp(twos(1024), ones(longBytes), ones(1024))), fork);
    add("modexp of many KB", once(5n, modexp(twos(hugeBytes), Uint8Array.of(3), ones(hugeBytes))), fork);
    add("modexp of 64 bytes in a loop", inLoop(5n, modexp(twos(64), ones(40), ones(64))), fork);
    add(
      "modexp of 1 byte with an exponent of 100 KB",
      once(5n, modexp(twos(1), ones(100_000), ones(1))),
      fork,
    );
    add(
      "modexp of 1 byte with an exponent of 4 MB",
      once(5n, modexp(twos(1), ones(4_000_000), ones(1))),
      fork,
    );
    const declared = (bytes: bigint) => Buffer.concat([word(1n), word(bytes), word(1n), Uint8Array.of(2, 1)]);
    add("modexp with an exponent of 18 MB, most of it not there", once(5n, declared(18_000_000n)), fork);
    add("modexp with an exponent of 120 MB, most of it not there", once(5n, declared(120_000_000n)), fork);
  }
  add("bn254 addition", inLoop(6n, bn254Pairs(1).subarray(0, 64)));
  add("bn254 multiplication", inLoop(7n, Buffer.concat([bn254Pairs(1).subarray(0, 64), HALF])));
  add("bn254 pairing of 1400 pairs", once(8n, bn254Pairs(1400)), {isLong: true});
  add("bn254 pairing of one pair, in a loop", inLoop(8n, bn254Pairs(1)));
  add("blake2f of all rounds there are", once(9n, blake2f(0xffff_ffff)));
  add("blake2f of 45 million rounds", once(9n, blake2f(45_000_000)), {isLong: true});
  add("point evaluation", inLoop(10n, pointEvaluation()), {hardfork: "cancun", isLong: true});
  add("BLS12-381 addition in G1", inLoop(0x0bn, Buffer.concat([blsG1(3n), blsG1(5n)])));
  add("BLS12-381 MSM of 1 point in G1", inLoop(0x0cn, Buffer.concat([blsG1(3n), HALF])));
  add("BLS12-381 MSM of 6000 points in G1", once(0x0cn, times(Buffer.concat([blsG1(3n), HALF]), 6000)));
  add("BLS12-381 addition in G2", inLoop(0x0dn, Buffer.concat([blsG2(3n), blsG2(5n)])));
  add("BLS12-381 MSM of 3000 points in G2", once(0x0en, times(Buffer.concat([blsG2(3n), HALF]), 3000)));
  add("BLS12-381 pairing of 1300 pairs", once(0x0fn, times(Buffer.concat([blsG1(3n), blsG2(5n)]), 1300)));
  add("BLS12-381 map to G1", inLoop(0x10n, blsField(12345n)));
  add("BLS12-381 map to G2", inLoop(0x11n, Buffer.concat([blsField(12345n), blsField(6789n)])));
  add("p256 verification", inLoop(0x100n, Buffer.concat([1n, 2n, 3n, 4n, 5n].map(word))), {
    hardfork: "osaka",
  });

  // Transactions that are long themselves.
  add("2.4 MB of call data that compresses badly", assemble(OP.STOP), {
    hardfork: "london",
    data: badlyCompressed(2_400_000),
  });
  return calls;
}

/** `body` for ever, at `offset` in the code. */
function loopAt(body: Uint8Array, offset: number): Uint8Array {
  return assemble(OP.JUMPDEST, body, pushWidth(BigInt(offset), 3), OP.JUMP);
}

/** Near repeats at many distances, for which a compressor searches longest. */
function badlyCompressed(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) data[at] = at % 259 === 258 ? (at / 259) & 0xff : 0;
  return data;
}
