/**
 * Calls made to keep a worker busy, on a real engine of one estimate thread: each comes back in its time, by the limit or
 * by its own end, and the thread answers the next call as if nothing had been. Each has as much work as 50 million gas buys.
 *
 * Some code is longer than the front takes (24 576 bytes): the threads get these calls directly.
 */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {after, before, test} from "node:test";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {Answers} from "../../../workers/messages/answers.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {MAX_STRETCH} from "../../../workers/messages/estimateSlice.ts";
import {assemble, OP, type Part, pushWidth} from "../../support/estimates/bytecode.ts";
import {blsField, blsG1, blsG2, bnG1, bnG2} from "../../support/estimates/curvePoints.ts";
import {EstimateStore, PLAIN_CALL, SETTINGS} from "../../support/estimates/estimateStore.ts";
import {estimateBy, packEstimates} from "../../support/estimates/packedEstimates.ts";
import {isSoak} from "../../support/soak.ts";

interface HostileCall {
  /** At `HOSTILE`. */
  readonly code: Uint8Array;
  /** Default: prague. */
  readonly fork?: string;
  /** At `HELPER`. */
  readonly helper?: Uint8Array;
  readonly data?: Uint8Array;
  /** The code is the data of a creation. */
  readonly isCreation?: boolean;
  /** Without a time limit it would take seconds on any machine. */
  readonly isLong?: boolean;
  /** More than the front allows: what 50 million gas buys of a plain loop ends in a tenth of a second. */
  readonly gas?: bigint;
}

const HELPER_ADDRESS = 0xbad1n;
const HOSTILE = Buffer.from("bad0".padStart(40, "0"), "hex");
const HELPER = Buffer.from("bad1".padStart(40, "0"), "hex");
/** The account at `HOSTILE` has slots 0 to this number - 1. */
const STORED_SLOTS = 3000;
/** With it, only the time limit ends a loop. */
const ENDLESS_GAS = 2 ** 40;
const ENDLESS = {isLong: true, gas: BigInt(ENDLESS_GAS)};
/** The longest code that fits a request of 5 MiB. */
const LONGEST_CODE = 2_400_000;
const LONGEST_INITCODE = 49_152;
/** Memory of 4 MB costs 33 million gas. */
const MUCH_MEMORY = 4_000_000n;
const GROW = assemble(1n, MUCH_MEMORY, OP.MSTORE);
/** A word of 32 bytes of ones, made by few bytes of code. */
const MAX_WORD = assemble(0n, OP.NOT);
const LAST_SCALAR = word(bls12_381.fields.Fr.ORDER - 1n);
const STOP = assemble(OP.STOP);

/** Runs `body` in an endless loop. It must leave the stack as it was. */
function loopForever(...body: readonly Part[]): Uint8Array {
  return assemble(OP.JUMPDEST, ...body, 0n, OP.JUMP);
}

/** An endless loop of `body` behind `start`. */
function loopAfter(start: Uint8Array, body: Uint8Array): Uint8Array {
  return assemble(start, OP.JUMPDEST, body, pushWidth(BigInt(start.length), 3), OP.JUMP);
}

/** Repeats `body` as often as it fits into `bytes`. */
function repeat(body: Uint8Array, bytes: number): Uint8Array {
  return Buffer.alloc(Math.floor(bytes / body.length) * body.length).fill(body);
}

function times(part: Uint8Array, count: number): Uint8Array {
  return repeat(part, part.length * count);
}

/** Code that copies `bytes` from its end into memory at 0, and then runs `body`, which begins at byte 11. */
function withMemory(bytes: Uint8Array, body: Uint8Array): Uint8Array {
  const [length, offset] = [bytes.length, 11 + body.length].map(number => pushWidth(BigInt(number), 3));
  return assemble(length as Uint8Array, offset as Uint8Array, 0n, OP.CODECOPY, body, bytes);
}

/** `dataBytes` of memory from 0 on to a precompile. */
function callPrecompile(address: bigint, dataBytes: bigint): Uint8Array {
  return assemble(0n, 0n, dataBytes, 0n, address, OP.GAS, OP.STATICCALL, OP.POP);
}

function once(address: bigint, input: Uint8Array): Uint8Array {
  return withMemory(input, assemble(callPrecompile(address, BigInt(input.length)), OP.STOP));
}

/** The input is written once. */
function inLoop(address: bigint, input: Uint8Array): Uint8Array {
  return withMemory(
    input,
    assemble(OP.JUMPDEST, callPrecompile(address, BigInt(input.length)), 11n, OP.JUMP),
  );
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

/** A valid proof of EIP-4844. All valid proofs take the same time. */
function pointEvaluation(): Uint8Array {
  // y = 3 for the constant polynomial 3, z anything: the proof is at infinity, the commitment is [3]G1.
  const commitment = bls12_381.G1.Point.BASE.multiply(3n).toBytes(true);
  const hash = createHash("sha256").update(commitment).digest();
  hash[0] = 1;
  return Buffer.concat([hash, word(5n), word(3n), commitment, Uint8Array.of(0xc0, ...new Uint8Array(47))]);
}

/** Runs `before`, then the same code again with all gas. */
function callSelf(...before: readonly Part[]): Uint8Array {
  return assemble(...before, 0n, 0n, 0n, 0n, 0n, OP.ADDRESS, OP.GAS, OP.CALL);
}

/** CREATE2 of the longest initcode. The remaining gas is the salt. */
const CREATE2 = assemble(OP.GAS, BigInt(LONGEST_INITCODE), 0n, 0n, OP.CREATE2, OP.POP);
const CALL_HELPER = assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP);
/** Pushes that only an analysis of the whole code tells from jump destinations. */
const analysed = (bytes: number) => assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), bytes));

/** Near repeats at many distances, which make a compressor search longest. */
function badlyCompressed(bytes: number): Uint8Array {
  return Uint8Array.from({length: bytes}, (_, at) => (at % 259 === 258 ? (at / 259) & 0xff : 0));
}

/** What 50 million gas (osaka: 2^24) buys under each price. Prague has that of berlin. */
const modexpCalls = (fork: string, longBytes: number, hugeBytes: number): Record<string, HostileCall> => ({
  [`modexp of 1 KB, ${fork}`]: {fork, code: once(5n, modexp(twos(1024), ones(longBytes), ones(1024)))},
  [`modexp of many KB, ${fork}`]: {
    ...{fork, code: once(5n, modexp(twos(hugeBytes), Uint8Array.of(3), ones(hugeBytes)))},
  },
  [`modexp with an exponent of 4 MB, ${fork}`]: {
    ...{fork, code: once(5n, modexp(twos(8), ones(4_000_000), ones(8)))},
    isLong: fork === "prague",
  },
});

const CALLS: Readonly<Record<string, HostileCall>> = {
  "an empty loop": {code: loopForever(), ...ENDLESS},
  "2.4 MB of JUMPDESTs in a loop": {code: loopForever(repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE))},
  "2.4 MB of PUSH1 to be analysed again and again, by calls of itself": {
    code: assemble(0n, 0n, OP.JUMPI, callSelf(), OP.STOP, repeat(assemble(1n), LONGEST_CODE)),
  },
  "2.4 MB of MULMOD of large numbers": {
    code: assemble(
      MAX_WORD,
      MAX_WORD,
      repeat(assemble(OP.DUP2, OP.DUP2, OP.DUP2, OP.MULMOD, OP.POP), LONGEST_CODE),
    ),
  },
  "2.4 MB of EXP with the largest exponents": {
    code: assemble(MAX_WORD, repeat(assemble(OP.DUP1, OP.DUP1, OP.EXP, OP.POP), LONGEST_CODE)),
  },
  "KECCAK256 over 4 MB, straight on": {
    code: assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, OP.KECCAK256, OP.POP), 100_000)),
  },
  "memory that grows by a word": {code: loopForever(1n, OP.MSIZE, OP.MSTORE)},
  "MCOPY of 4 MB": {
    code: assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, 1n, OP.MCOPY), 100_000)),
  },
  "CODECOPY of 2 MB, straight on": {
    code: repeat(assemble(pushWidth(2_000_000n, 3), 0n, 0n, OP.CODECOPY), LONGEST_CODE),
  },
  "EXTCODECOPY of 24 KB in a loop": {
    code: loopForever(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY),
    helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000),
  },
  "returned data of 2 MB, again and again": {
    code: loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
    helper: assemble(2_000_000n, 0n, OP.RETURN),
  },
  "calls with 4 MB of input to an account without code": {
    code: assemble(GROW, repeat(callPrecompile(0xdeadn, MUCH_MEMORY), LONGEST_CODE)),
  },
  "4 MB through the identity precompile": {code: loopAfter(GROW, callPrecompile(4n, MUCH_MEMORY))},
  "logs of 100 KB": {code: loopForever(100_000n, 0n, OP.LOG0)},
  "logs of nothing, and calls that pass them on": {
    code: loopForever(times(assemble(0n, 0n, OP.LOG0), 20), times(CALL_HELPER, 20)),
    helper: STOP,
  },
  "recursion that branches twice at every level": {code: assemble(callSelf(), callSelf()), ...ENDLESS},
  "recursion with 100 KB of memory at every level": {
    code: assemble(callSelf(1n, 100_000n, OP.MSTORE), callSelf()),
  },
  "CREATE2 of 48 KB of PUSH1 to be analysed": {
    code: withMemory(analysed(LONGEST_INITCODE - 6), assemble(OP.JUMPDEST, CREATE2, 11n, OP.JUMP)),
  },
  "CREATE of 2 MB of PUSH1 to be analysed, before EIP-3860": {
    fork: "london",
    code: withMemory(
      analysed(2_000_000),
      assemble(OP.JUMPDEST, 2_000_000n, 0n, 0n, OP.CREATE, OP.POP, 11n, OP.JUMP),
    ),
  },
  "creation with 1.2 MB of PUSH1 as its code": {fork: "london", code: analysed(1_200_000), isCreation: true},
  "creations of empty accounts, and calls that pass them on": {
    code: loopForever(times(assemble(0n, 0n, 0n, OP.CREATE, OP.POP), 5), times(CALL_HELPER, 20)),
    helper: STOP,
  },
  "SLOAD of cold slots, straight on": {code: repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE)},
  "SSTORE of fresh slots": {code: repeat(assemble(OP.PC, OP.PC, OP.SSTORE), LONGEST_CODE)},
  "TSTORE of fresh slots": {code: repeat(assemble(OP.PC, OP.PC, OP.TSTORE), LONGEST_CODE)},
  ecrecover: {code: inLoop(1n, Buffer.concat([5n, 27n, 7n, 9n].map(word)))},
  "sha256 of 4 MB": {code: loopAfter(GROW, callPrecompile(2n, MUCH_MEMORY))},
  "ripemd160 of 2 MB": {
    code: loopAfter(assemble(1n, 2_000_000n, OP.MSTORE), callPrecompile(3n, 2_000_000n)),
  },
  ...modexpCalls("prague", 1100, 95_000),
  ...modexpCalls("osaka", 48, 1000),
  "bn254 multiplication": {code: inLoop(7n, Buffer.concat([bnG1(7n), LAST_SCALAR]))},
  "bn254 pairing of 1400 pairs": {
    code: once(8n, times(Buffer.concat([bnG1(7n), bnG2(9n)]), 1400)),
    isLong: true,
  },
  "blake2f of 45 million rounds": {code: once(9n, blake2f(45_000_000)), isLong: true},
  "point evaluation": {code: inLoop(10n, pointEvaluation()), isLong: true},
  "BLS12-381 MSM of 6000 points in G1": {
    code: once(0x0cn, times(Buffer.concat([blsG1(3n), LAST_SCALAR]), 6000)),
  },
  "BLS12-381 MSM of 3000 points in G2": {
    code: once(0x0en, times(Buffer.concat([blsG2(3n), LAST_SCALAR]), 3000)),
  },
  "BLS12-381 pairing of 1300 pairs": {code: once(0x0fn, times(Buffer.concat([blsG1(3n), blsG2(5n)]), 1300))},
  "BLS12-381 map to G2": {code: inLoop(0x11n, Buffer.concat([blsField(12345n), blsField(6789n)]))},
  "p256 verification": {
    fork: "osaka",
    code: inLoop(0x100n, Buffer.concat([1n, 2n, 3n, 4n, 5n].map(word))),
  },
  // The transaction itself is long.
  "2.4 MB of call data that compresses badly": {
    ...{fork: "london", code: STOP, data: badlyCompressed(2_400_000)},
  },
};

/** `npm test` takes those that only the limit ends, and every ninth. */
const hostileCalls = Object.entries(CALLS).filter(
  ([, {isLong}], at) => isSoak() || isLong === true || at % 9 === 0,
);

const LIMIT_MS = 100;
/**
 * Of processor time, all threads, beyond the limit: other processes do not count in it, and cannot make the test fail.
 * What lies between two looks at the clock is one opcode at most: 30 ms were seen, for KECCAK256 over 4 MB; the
 * collector's threads take some 0.2 s beside the longest.
 */
const MARGIN_MS = 600;
/** 250 MB were seen. One call's memory, stack frames, undo log and jump analyses, before the next collection. */
const MAX_GROWTH_BYTES = 800 << 20;

const ORDINARY: EstimateCall = {...PLAIN_CALL, to: HOSTILE, data: Uint8Array.of(0xff, 0x01)};

type CallFailure = Answers["failures"][number];

let store: EstimateStore;
let engine: Engine;
/** Of the engine. Each has threads of its own. */
let fork = "";
let startBytes = 0;
let mostBytes = 0;

before(async () => {
  store = await EstimateStore.create();
  const storage = Object.fromEntries(
    Array.from({length: STORED_SLOTS}, (_, slot) => [`0x${slot.toString(16)}`, "0x1"]),
  );
  // STOP, so that the ordinary call executes something.
  await store.addBlock({accounts: {[encodeHex(HOSTILE)]: {balance: "0x1", code: "0x00", storage}}});
  startBytes = process.memoryUsage().rss;
});

after(async () => {
  await store.close();
});

async function useFork(hardfork: string): Promise<void> {
  if (fork === hardfork) return;
  engine = await store.openPool({
    workers: 1,
    settings: {...SETTINGS, hardfork, timeMs: LIMIT_MS, gasCap: ENDLESS_GAS},
  });
  fork = hardfork;
}

function send(call: EstimateCall): Promise<Answers> {
  return estimateBy(engine, packEstimates(call));
}

/** Milliseconds of work, for which a machine with other things to do may need more than a limit: asked again then. */
async function sendOrdinary(): Promise<Answers> {
  for (let attempt = 1; ; attempt++) {
    const answers = await send(ORDINARY).catch(ignoreAbort);
    if (answers !== undefined && answers.failures[0]?.failure !== "LIMIT_EXCEEDED") return answers;
    assert.ok(attempt < 100, `no answer: ${answers?.failures[0]?.detail ?? "the thread was replaced"}`);
  }
}

/**
 * The shortest of up to three attempts: the first ones also pay for compiling code that the thread had not run before, up to
 * 0.4 s here. An attempt takes forever if the engine replaces the thread. It does so for code that never looks at its time, always,
 * and after 6 s of wall clock: so it may also hit a thread that gets no processor.
 */
async function sendMeasured(call: EstimateCall): Promise<{failure: CallFailure | undefined; busyMs: number}> {
  let failure: CallFailure | undefined;
  let busyMs = Number.POSITIVE_INFINITY;
  for (let attempt = 1; attempt <= 3 && busyMs > LIMIT_MS + MARGIN_MS; attempt++) {
    const start = process.cpuUsage();
    const answers = await send(call).catch(ignoreAbort);
    const {user, system} = process.cpuUsage(start);
    if (answers === undefined) continue;
    failure = answers.failures[0];
    busyMs = Math.min(busyMs, (user + system) / 1000);
  }
  return {failure, busyMs};
}

/**
 * A thread that gets no processor stops the hostile call by the wall clock, maybe before its first turn is over: sent again then.
 *
 * @returns the order in which a hostile call and an ordinary one beside it are answered
 */
async function sendBoth(hostile: EstimateCall): Promise<readonly string[]> {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const order: string[] = [];
    const sendAs = (name: string, call: EstimateCall) =>
      send(call)
        .catch(ignoreAbort)
        .finally(() => order.push(name));
    const [answers] = await Promise.all([sendAs("hostile", hostile), sendAs("ordinary", ORDINARY)]);
    const failure = answers?.failures[0];
    const isStarved = failure?.failure !== "LIMIT_EXCEEDED" || failure.got >= MAX_STRETCH * LIMIT_MS;
    if (order[0] === "ordinary" || !isStarved) return order;
  }
  return assert.fail("its thread gets no processor");
}

function ignoreAbort(error: Error): undefined {
  if (error.name !== "AbortError") throw error;
}

function toCall({code, helper, data, isCreation, gas}: HostileCall): EstimateCall {
  if (isCreation === true) return {...PLAIN_CALL, data: code};
  const overrides = [
    {address: HOSTILE, code},
    {address: HELPER, code: helper ?? new Uint8Array(0)},
  ];
  return {
    ...PLAIN_CALL,
    to: HOSTILE,
    data: data ?? PLAIN_CALL.data,
    overrides,
    gas,
  };
}

test("several hostile calls of one job take their time each, and a failed call between them fails as itself", async () => {
  await useFork("prague");
  await sendOrdinary();
  const endless = toCall(CALLS["an empty loop"] ?? assert.fail());
  const poor: EstimateCall = {...ORDINARY, value: 10n ** 30n};
  const job = packEstimates(endless, poor, endless, poor, endless);
  const {failures, text} = await estimateBy(engine, job);
  assert.equal(text.length, 0);
  assert.deepEqual(
    failures.map(({call, failure}) => [call, failure]),
    [
      [0, "LIMIT_EXCEEDED"],
      [1, "EXECUTION_FAILED"],
      [2, "LIMIT_EXCEEDED"],
      [3, "EXECUTION_FAILED"],
      [4, "LIMIT_EXCEEDED"],
    ],
  );
  for (const failure of failures) {
    if (failure.failure !== "LIMIT_EXCEEDED") continue;
    assert.equal(failure.limit, LIMIT_MS);
    // Of the thread's own processor time: neither what another call has left over nor the time of two. A thread that gets none
    // is stopped by the wall clock.
    const isOwn = failure.got >= LIMIT_MS && failure.got < 2 * LIMIT_MS;
    assert.ok(isOwn || failure.got >= MAX_STRETCH * LIMIT_MS, `call ${failure.call}: ${failure.got} ms`);
  }
});

for (const hardfork of ["prague", "osaka", "london"])
  for (const [title, hostile] of hostileCalls.filter(([, {fork = "prague"}]) => fork === hardfork))
    test(`${title} (${hardfork}) comes back in time, and the next call is answered`, async t => {
      await useFork(hardfork);
      const expected = await sendOrdinary();
      assert.deepEqual(expected.failures, []);
      const {failure, busyMs} = await sendMeasured(toCall(hostile));
      t.diagnostic(`${Math.round(busyMs)} ms of processor`);
      assert.ok(busyMs <= LIMIT_MS + MARGIN_MS, `${busyMs} ms`);
      if (failure?.failure === "LIMIT_EXCEEDED") {
        assert.match(failure.detail, new RegExp(`after ${LIMIT_MS} ms$`));
        assert.equal(failure.limit, LIMIT_MS);
        assert.ok(failure.got >= LIMIT_MS, `got ${failure.got}`);
      } else {
        assert.notEqual(hostile.isLong, true, failure?.detail ?? "an answer");
        assert.ok(failure === undefined || failure.failure === "EXECUTION_FAILED", failure?.failure);
      }
      assert.deepEqual(await sendOrdinary(), expected);
      if (hostile.isLong === true)
        assert.deepEqual(
          await sendBoth(toCall(hostile)),
          ["ordinary", "hostile"],
          "it passes its turn midway",
        );
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss);
    });

test("all of it together leaves the process with bounded memory", t => {
  const growth = mostBytes - startBytes;
  t.diagnostic(`${growth >> 20} MB`);
  // Below zero where the files before this one have left memory that is free by now.
  assert.ok(mostBytes > 0 && growth <= MAX_GROWTH_BYTES, `${growth >> 20} MB`);
});
