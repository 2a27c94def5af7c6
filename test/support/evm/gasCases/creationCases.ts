/** What creations and destructions cost and leave: EIP-161, 170, 3529, 3541, 3860, 6780, 7610. */
import assert from "node:assert/strict";
import {bigIntToUnpaddedBytes, generateAddress, generateAddress2} from "@ethereumjs/util";
import {toHex} from "../../../../storage/hex.ts";
import type {MemoryAccount} from "../../chains/memoryState.ts";
import {assemble, OP, pushWidth, withMemory} from "../../estimates/bytecode.ts";
import {CONTRACT, type EvmKit, type GasCase, type Run, type Setting} from "../evmKit.ts";
import {addressOf} from "../randomState.ts";

const [CREATE, CODE_BYTE, COLD, WARM] = [32_000, 200, 2600, 100];
const [PLAIN, CHILD] = [0xacc0n, 0xc41dn];
const ANSWER = [0n, OP.MSTORE, 32n, 0n, OP.RETURN];

function words(bytes: number): number {
  return Math.ceil(bytes / 32);
}

function memoryGas(bytes: number): number {
  return 3 * words(bytes) + Math.floor(words(bytes) ** 2 / 512);
}

/** Initcode of 7 bytes whose code are `bytes` zeros. */
function returning(bytes: number): Uint8Array {
  return assemble(pushWidth(BigInt(bytes), 3), 0n, OP.RETURN);
}

/** Puts `initcode` into memory, and creates with it. The address is left on the stack. */
function creation(
  initcode: Uint8Array,
  isSecond: boolean,
  value = 0n,
): {code: Uint8Array; gas: (kit: EvmKit) => number} {
  const create = assemble(
    ...(isSecond ? [5n] : []),
    pushWidth(BigInt(initcode.length), 3),
    0n,
    value,
    isSecond ? OP.CREATE2 : OP.CREATE,
  );
  const code = withMemory(initcode, assemble(create, ...ANSWER));
  const size = initcode.length;
  const gas = (kit: EvmKit) =>
    // PUSH3 PUSH3 PUSH1 CODECOPY, the creation, and the answer's memory.
    9 +
    3 +
    3 * words(size) +
    memoryGas(Math.max(size, 32)) +
    (isSecond ? 12 : 9) +
    CREATE +
    (isSecond ? 6 * words(size) : 0) +
    (kit.has("shanghai") ? 2 * words(size) : 0) +
    12;
  return {code, gas};
}

function accountIn(run: Run, address: Uint8Array): MemoryAccount | undefined {
  return run.state.accounts.get(toHex(address));
}

/** The creation fails, and takes the gas that it was given. */
function expectConsumed(kit: EvmKit, code: Uint8Array, setting: Setting = {}): Run {
  const run = kit.run(code, {gas: 1_000_000n, ...setting});
  assert.deepEqual([run.end, run.word], ["success", 0n], `${kit.fork}: ${toHex(code).slice(0, 100)}`);
  assert.ok(
    run.gasUsed > 900_000n,
    `${kit.fork}: expected the gas of the creation to be gone, got ${run.gasUsed} used`,
  );
  return run;
}

const FIRST = generateAddress(addressOf(CONTRACT), Uint8Array.of(1));

export const CREATION_CASES: readonly GasCase[] = [
  ...[false, true].map(isSecond => ({
    title: `${isSecond ? "CREATE2" : "CREATE"} costs 32 000 gas, its initcode by the word, and 200 for each byte of code`,
    check: (kit: EvmKit) => {
      for (const bytes of [0, 1, 32, 33, 1000, 24_576]) {
        const initcode = returning(bytes);
        const {code, gas} = creation(initcode, isSecond);
        const run = kit.expectGas(code, gas(kit) + 6 + memoryGas(bytes) + CODE_BYTE * bytes);
        const address = isSecond
          ? generateAddress2(
              addressOf(CONTRACT),
              Uint8Array.from({length: 32}, (_, at) => (at === 31 ? 5 : 0)),
              initcode,
            )
          : FIRST;
        assert.equal(run.word, BigInt(toHex(address)));
        assert.deepEqual([accountIn(run, address)?.nonce, accountIn(run, address)?.code.length], [1n, bytes]);
        assert.equal(accountIn(run, addressOf(CONTRACT))?.nonce, 2n);
      }
      for (const length of [8, 32, 33, 49_152]) {
        const initcode = Buffer.concat([returning(0), new Uint8Array(length - 7)]);
        const {code, gas} = creation(initcode, isSecond);
        kit.expectGas(code, gas(kit) + 6);
      }
      expectConsumed(kit, creation(returning(24_577), isSecond).code, {gas: 8_000_000n});
      expectConsumed(kit, creation(assemble(OP.INVALID), isSecond).code);
    },
  })),
  {
    title: "EIP-3860: initcode of 49 153 bytes ends the frame since shanghai",
    check: kit => {
      const {code, gas} = creation(Buffer.concat([returning(0), new Uint8Array(49_146)]), false);
      if (kit.has("shanghai")) kit.expectFailure(code);
      else kit.expectGas(code, gas(kit) + 6);
    },
  },
  {
    title: "EIP-3541: code that begins with 0xef is refused since london",
    check: kit => {
      const {code} = creation(assemble(0xefn, 0n, OP.MSTORE8, 1n, 0n, OP.RETURN), false);
      if (kit.has("london")) expectConsumed(kit, code);
      else assert.equal(kit.run(code).word, BigInt(toHex(FIRST)));
    },
  },
  {
    title: "a creation that cannot pay for its code fails",
    check: kit => {
      const {code, gas} = creation(returning(1000), false);
      const inside = 6 + memoryGas(1000) + CODE_BYTE * 1000;
      // The creation gets all but a 64th of what is left after 12 gas of the answer.
      const before = gas(kit) - 12;
      const enough = BigInt(before) + BigInt(Math.ceil((inside * 64) / 63));
      assert.notEqual(kit.run(code, {gas: enough}).word, 0n);
      assert.equal(kit.run(code, {gas: enough - 2n}).word, 0n);
    },
  },
  {
    title:
      "a creation where an account with nonce, code or slots is takes its gas; the creator's nonce is raised",
    check: kit => {
      const {code} = creation(returning(1), false);
      const slots = new Map([[`0x${"0".repeat(64)}`, `0x${"1".padStart(64, "0")}`]]);
      for (const there of [{nonce: 1n}, {code: Uint8Array.of(0)}, {balance: 1n, slots}]) {
        const run = expectConsumed(kit, code, {accounts: [[BigInt(toHex(FIRST)), there]]});
        assert.equal(accountIn(run, addressOf(CONTRACT))?.nonce, 2n);
      }
      const rich = kit.run(code, {accounts: [[BigInt(toHex(FIRST)), {balance: 7n}]]});
      assert.equal(accountIn(rich, FIRST)?.balance, 7n);
    },
  },
  {
    title: "a creation without the balance does nothing, and keeps its gas",
    check: kit => {
      const {code, gas} = creation(returning(1), false, 2n);
      const run = kit.expectGas(code, gas(kit), {balance: 1n});
      assert.deepEqual([run.word, accountIn(run, addressOf(CONTRACT))?.nonce], [0n, 1n]);
      const paid = kit.run(code, {balance: 5n});
      assert.deepEqual(
        [accountIn(paid, FIRST)?.balance, accountIn(paid, addressOf(CONTRACT))?.balance],
        [2n, 3n],
      );
    },
  },
  {
    title: "the address of a creation is warm, even if the creation failed",
    check: kit => {
      for (const initcode of [returning(0), assemble(OP.INVALID)]) {
        const {code} = creation(initcode, false);
        const first = code.subarray(0, code.length - initcode.length);
        const ask = assemble(BigInt(toHex(FIRST)), OP.BALANCE);
        const spent = (more: Uint8Array) =>
          kit.run(
            assemble(
              Uint8Array.of(0x5f + initcode.length),
              initcode,
              0n,
              OP.MSTORE,
              BigInt(initcode.length),
              BigInt(32 - initcode.length),
              0n,
              OP.CREATE,
              more,
            ),
            {gas: 1_000_000n},
          ).gasUsed;
        assert.ok(first.length > 0);
        assert.equal(spent(ask) - spent(new Uint8Array(0)), BigInt(3 + WARM), kit.fork);
      }
    },
  },
  {
    title: "a message without a receiver is a creation by its caller's nonce",
    check: kit => {
      const caller = addressOf(0xca11e4n);
      const run = kit.expectGas(returning(40), 6 + memoryGas(40) + CODE_BYTE * 40, {
        isCreation: true,
        value: 3n,
      });
      const address = generateAddress(caller, bigIntToUnpaddedBytes(0n));
      assert.equal(toHex(run.created ?? new Uint8Array(0)), toHex(address));
      assert.deepEqual([accountIn(run, address)?.balance, accountIn(run, address)?.code.length], [3n, 40]);
    },
  },
  {
    title:
      "SELFDESTRUCT costs 5 000 gas, 2 600 for a cold receiver and 25 000 for an empty one that gets something",
    check: kit => {
      const code = assemble(PLAIN, OP.SELFDESTRUCT);
      const there = {accounts: [[PLAIN, {balance: 1n}]]} as const;
      kit.expectGas(code, 3 + 5000 + COLD, {...there, balance: 3n});
      kit.expectGas(assemble(PLAIN, OP.BALANCE, code), 3 + COLD + 3 + 5000, {...there, balance: 3n});
      kit.expectGas(code, 3 + 5000 + COLD, {balance: 0n});
      const run = kit.expectGas(code, 3 + 5000 + COLD + 25_000, {balance: 3n});
      assert.equal(run.refund, kit.has("london") ? 0n : 24_000n);
      assert.equal(accountIn(run, addressOf(PLAIN))?.balance, 3n);
      const left = accountIn(run, addressOf(CONTRACT));
      assert.equal(left?.balance, kit.has("cancun") ? 0n : undefined);
      // To itself: burnt before cancun, kept since.
      const self = kit.expectGas(assemble(OP.ADDRESS, OP.SELFDESTRUCT), 2 + 5000, {balance: 3n});
      assert.equal(accountIn(self, addressOf(CONTRACT))?.balance, kit.has("cancun") ? 3n : undefined);
    },
  },
  {
    title: "EIP-6780: what is created and destroyed in one transaction is gone",
    check: kit => {
      const initcode = assemble(PLAIN, OP.SELFDESTRUCT);
      const {code} = creation(initcode, false, 2n);
      const run = kit.run(code, {balance: 5n, accounts: [[CHILD, {balance: 1n}]]});
      assert.equal(run.word, BigInt(toHex(FIRST)));
      assert.equal(run.refund, kit.has("london") ? 0n : 24_000n);
      assert.equal(accountIn(run, FIRST), undefined);
      assert.equal(accountIn(run, addressOf(PLAIN))?.balance, 2n);
    },
  },
];
