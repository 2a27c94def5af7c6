import assert from "node:assert/strict";
import {describe, it} from "node:test";
import {EvmDeclined} from "../../../../evm/interpreter/ends.ts";
import {Evm} from "../../../../evm/interpreter/evm.ts";
import type {EvmMessage} from "../../../../evm/interpreter/message.ts";
import {rulesOf} from "../../../../evm/interpreter/rules.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {assemble, OP} from "../../../support/estimates/bytecode.ts";

const SENDER = new Uint8Array(20).fill(0x5e);
const CONTRACT = new Uint8Array(20).fill(0xc0);
const NO_BYTES = new Uint8Array(0);
const WORD = (value: number): Uint8Array => Uint8Array.of(...new Uint8Array(31), value);

const BLOCK = {
  ...{number: 100n, timestamp: 1n, gasLimit: 30_000_000n, coinbase: SENDER, baseFee: 7n, blobBaseFee: 1n},
  ...{random: 0n, chainId: 1337n},
};

function createEvm(code: Uint8Array, fork = "osaka") {
  const reads: string[] = [];
  const evm = new Evm();
  const rules = rulesOf(fork);
  assert(rules);
  evm.moveTo({
    readAccount: address => {
      reads.push(`account ${Buffer.from(address).toString("hex", 0, 1)}`);
      const isContract = Buffer.compare(address, CONTRACT) === 0;
      const codeHash = keccak256(isContract ? code : NO_BYTES);
      return {nonce: 1n, balance: 1000n, codeHash, hasStorage: isContract};
    },
    readSlot: (_, slot) => {
      reads.push(`slot ${slot[31]}`);
      return Uint8Array.of(7);
    },
    readCode: () => code,
    readBlockHash: number => keccak256(Uint8Array.of(number)),
  });
  const setBlock = () => evm.setBlock(rules, BLOCK);
  setBlock();
  evm.beginTransaction();
  const message: EvmMessage = {
    ...{
      origin: SENDER,
      caller: SENDER,
      to: CONTRACT,
      value: 0n,
      data: NO_BYTES,
      gas: 1_000_000n,
      gasPrice: 1n,
    },
    ...{blobHashes: [], nonce: 1n},
  };
  return {evm, message, reads, setBlock};
}

/** Adds 1 to a slot, for ever. */
const LOOP = assemble(OP.JUMPDEST, 1n, 0n, OP.SLOAD, OP.ADD, 0n, OP.SSTORE, 0n, OP.JUMP);
const ADD_ONE = assemble(1n, 0n, OP.SLOAD, OP.ADD, 0n, OP.SSTORE);

describe("the EVM in WebAssembly", () => {
  it("does not know forks before berlin, nor those that are not there yet", () => {
    for (const fork of ["istanbul", "chainstart", "amsterdam"]) assert.equal(rulesOf(fork), undefined);
    assert.equal(rulesOf("bpo2")?.params.hasP256, 1);
  });

  it("reads a key once, keeps what it wrote, and undoes it to a checkpoint", async () => {
    const {evm, message, reads} = createEvm(ADD_ONE);
    const mark = evm.checkpoint();
    const {end, gasLeft} = await evm.run(message);
    assert.equal(end, "success");
    assert.equal(1_000_000n - gasLeft, 3n + 3n + 2100n + 3n + 3n + 2900n);
    assert.deepEqual(evm.readSlot(CONTRACT, WORD(0)), WORD(8));
    evm.beginTransaction();
    await evm.run(message);
    assert.deepEqual(evm.readSlot(CONTRACT, WORD(0)), WORD(9));
    assert.deepEqual(reads, ["account 5e", "account c0", "slot 0"]);
    evm.revertTo(mark);
    assert.deepEqual(evm.readSlot(CONTRACT, WORD(0)), WORD(7));
  });

  it("asks for a witness also for what other EVMs read before they run out of gas", async () => {
    const other = 0xaan << 152n;
    const far = 1n << 40n;
    for (const [gas, read, ...code] of [
      [2306n, "slot 3", 1n, 3n, OP.SSTORE],
      [4000n, "account aa", other, OP.SELFDESTRUCT],
      [2000n, "account aa", 0n, 0n, 0n, 0n, other, OP.GAS, OP.STATICCALL],
      [2000n, "account aa", 0n, 0n, 1n, far, other, OP.GAS, OP.STATICCALL],
    ] as const) {
      const {evm, message, reads, setBlock} = createEvm(assemble(...code));
      const before = ["account 5e", "account c0"];
      assert.equal((await evm.run({...message, gas})).end, "outOfGas");
      assert.deepEqual(reads.splice(0), before);
      evm.moveTo(evm.instance.source ?? assert.fail(), true);
      setBlock();
      assert.equal((await evm.run({...message, gas})).end, "outOfGas");
      assert.deepEqual(reads, [...before, read]);
    }
  });

  it("reads a coinbase that is warm only when code asks for it, for the gas of a warm access", async () => {
    for (const isWarm of [true, false]) {
      const {evm, message, reads} = createEvm(assemble(OP.COINBASE, OP.BALANCE));
      evm.setBlock(rulesOf("osaka") ?? assert.fail(), {...BLOCK, coinbase: new Uint8Array(20).fill(0xcb)});
      if (isWarm) evm.warmCoinbase();
      assert.deepEqual(reads, []);
      const {end, gasLeft} = await evm.run({...message, gas: 150n});
      assert.deepEqual([end, gasLeft], isWarm ? ["success", 48n] : ["outOfGas", 0n]);
      assert.deepEqual(reads.slice(2), isWarm ? ["account cb"] : []);
    }
  });

  it("asks for a code that it has cached only for a witness", async () => {
    const {evm, message} = createEvm(ADD_ONE);
    const {source} = evm.instance;
    assert.ok(source);
    let codes = 0;
    for (const isWitnessed of [false, true]) {
      await evm.run(message);
      const readCode = (hash: Uint8Array) => {
        codes++;
        return source.readCode(hash);
      };
      evm.moveTo({...source, readCode}, isWitnessed);
      await evm.run(message);
      assert.equal(codes, isWitnessed ? 1 : 0);
    }
  });

  it("pauses after the steps that it was given, and goes on from there", () => {
    const {evm, message} = createEvm(LOOP);
    const whole = createEvm(LOOP);
    whole.evm.begin(message);
    assert.equal(whole.evm.resume(1_000_000_000), "ended");
    evm.begin(message);
    let pauses = 0;
    while (evm.resume(1) === "paused") pauses++;
    assert(pauses > 8 * 400, `expected a pause for each opcode, got ${pauses}`);
    assert.equal(evm.readResult().end, "outOfGas");
    assert.deepEqual(evm.readResult(), whole.evm.readResult());
  });

  it("ends a slice after what the identity has copied, as after as many opcodes", () => {
    const megabyte = 1_000_000n;
    const copy = assemble(0n, 0n, megabyte, 0n, 4n, OP.GAS, OP.STATICCALL, OP.POP);
    const {evm, message} = createEvm(assemble(0n, megabyte, OP.MSTORE, ...new Array(10).fill(copy)));
    evm.begin({...message, gas: 50_000_000n});
    let pauses = 0;
    while (evm.resume(3900) === "paused") pauses++;
    assert.equal(evm.readResult().end, "success");
    assert.ok(pauses >= 10, `expected a pause for each copy, got ${pauses}`);
  });

  it("ends a slice after the memory that its frames have added, as after as many opcodes", () => {
    const expand = assemble(0n, 128_000n, OP.MSTORE);
    const {evm, message} = createEvm(assemble(expand, 0n, 0n, 0n, 0n, 0n, OP.ADDRESS, OP.GAS, OP.CALL));
    evm.begin({...message, gas: 2_000_000n});
    let pauses = 0;
    while (evm.resume(3900) === "paused") pauses++;
    const frames = evm.instance.exports.arenaBytes() / 128_000;
    assert.ok(frames > 20 && pauses > 20, `expected a pause for each of ${frames} frames, got ${pauses}`);
  });

  it("asks again for a slot whose read failed", async () => {
    const {evm, message} = createEvm(assemble(0n, OP.SLOAD, 0n, OP.MSTORE, 32n, 0n, OP.RETURN));
    const {source} = evm.instance;
    assert.ok(source);
    const mark = evm.checkpoint();
    const fail = (): never => assert.fail("the record is damaged");
    evm.instance.source = {
      readSlot: fail,
      readAccount: address => source.readAccount(address),
      readCode: hash => source.readCode(hash),
      readBlockHash: number => source.readBlockHash(number),
    };
    await assert.rejects(evm.run(message), /the record is damaged/);
    evm.revertTo(mark);
    evm.instance.source = source;
    evm.beginTransaction();
    assert.deepEqual((await evm.run(message)).returned, WORD(7));
  });

  it("reads nothing for gas that does not pay a read", async () => {
    for (const [code, gas] of [
      [assemble(9n, OP.SLOAD), 2099n],
      [assemble(0x99n, OP.BALANCE), 2599n],
      [assemble(0x99n, OP.EXTCODEHASH), 2599n],
      [assemble(0n, 0n, 0n, 0n, 0n, 0x99n, 0n, OP.CALL), 2599n],
      [assemble(0x99n, OP.SELFDESTRUCT), 5000n + 2599n],
    ] as const) {
      const {evm, message, reads} = createEvm(code, "berlin");
      const pushed = 3n * BigInt(code.length >> 1);
      evm.writeCode(CONTRACT, code);
      const constants = evm.instance.bytes.slice(0, evm.instance.exports.OPCODES.value);
      const {end} = await evm.run({...message, gas: gas + pushed});
      assert.equal(end, "outOfGas");
      assert.deepEqual(evm.instance.bytes.subarray(0, constants.length), constants);
      assert.deepEqual(reads, ["account c0", "account 5e"]);
    }
  });

  it("says that a call which needs gas may fail with less, also if it was given a fixed amount", async () => {
    const SPENDER = new Uint8Array(20).fill(9);
    const call = assemble(0n, 0n, 0n, 0n, 0n, BigInt(`0x${"09".repeat(20)}`), 200_000n, OP.CALL);
    const {evm, message} = createEvm(call);
    evm.writeCode(SPENDER, ADD_ONE);
    const {end, leastGas, isBounded} = await evm.run(message);
    assert.deepEqual([end, isBounded], ["success", true]);
    const mark = evm.checkpoint();
    evm.beginTransaction();
    assert.equal((await evm.run({...message, gas: (leastGas as bigint) - 1n})).end, "success");
    evm.revertTo(mark);
  });

  it("takes the price of memory beyond 4 GB, or declines it", async () => {
    const beyond = createEvm(assemble(2n ** 32n, OP.MLOAD));
    await assert.rejects(beyond.evm.run({...beyond.message, gas: 2n ** 50n}), EvmDeclined);
    const poor = createEvm(assemble(2n ** 32n, OP.MLOAD));
    assert.equal((await poor.evm.run({...poor.message, gas: 2n ** 44n})).end, "outOfGas");
  });

  it("declines a run that needs more memory than it may have", async () => {
    const {evm, message, setBlock} = createEvm(assemble(0n, 0xf000_0000n, OP.MSTORE));
    const gas = 2n ** 62n;
    await assert.rejects(evm.run({...message, gas}), (error: Error) => {
      assert(error instanceof EvmDeclined);
      assert.equal(error.reason, "memory");
      return true;
    });
    const {source} = evm.instance;
    assert.ok(source);
    evm.moveTo(source);
    setBlock();
    evm.beginTransaction();
    assert.equal((await evm.run(message)).end, "outOfGas");
  });
});
