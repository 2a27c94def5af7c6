/** The state of our own EVM against plain maps that are copied whole at every checkpoint. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Account, Address} from "@ethereumjs/util";
import fc from "fast-check";
import {ChainState, listDifferences} from "../../evm/execution/chainState.ts";
import {EvmState} from "../../evm/execution/evmState.ts";
import {Evm} from "../../evm/interpreter/evm.ts";
import {StateTrie} from "../../storage/commit/stateTrie.ts";
import {toHex} from "../../storage/hex.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import type {TrieStore} from "../../storage/trie/trieStore.ts";
import {type MemoryAccount, MemoryState} from "../support/chains/memoryState.ts";
import {propertyRuns} from "../support/soak.ts";

type Step =
  | {readonly kind: "put"; readonly account: number; readonly nonce: number; readonly balance: number}
  | {readonly kind: "code"; readonly account: number; readonly code: number}
  | {readonly kind: "slot"; readonly account: number; readonly slot: number; readonly value: number}
  | {readonly kind: "clear"; readonly account: number}
  | {readonly kind: "delete"; readonly account: number}
  | {readonly kind: "checkpoint"}
  | {readonly kind: "commit"}
  | {readonly kind: "revert"}
  | {readonly kind: "root"};

const account = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({kind: fc.constant("put" as const), account, nonce: fc.nat(2), balance: fc.nat(2)}),
  fc.record({kind: fc.constant("code" as const), account, code: fc.nat(2)}),
  {
    weight: 3,
    arbitrary: fc.record({kind: fc.constant("slot" as const), account, slot: fc.nat(20), value: fc.nat(2)}),
  },
  fc.record({kind: fc.constantFrom("clear" as const, "delete" as const), account}),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("checkpoint" as const, "commit" as const, "revert" as const),
    }),
  },
  fc.record({kind: fc.constant("root" as const)}),
);

test("whatever is written, reverted and sealed, root, reads and differences are those of plain maps", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, {maxLength: 40}), {maxLength: 6}), async blocks => {
      const store = new MemoryTries();
      const trie = new StateTrie(store);
      const {evm, chain, state} = open(store, trie);
      const model = new Model();
      const summed = new MemoryState();
      for (const steps of blocks) {
        for (const next of steps) await take(next, state, model);
        while (model.depth > 0) await take({kind: "commit"}, state, model);
        await compareReads(state, model);
        const root = await state.getStateRoot();
        summed.apply({
          header: {number: 0, hash: new Uint8Array(32)},
          accounts: listDifferences(evm),
        });
        trie.seal();
        chain.clearCache();
        evm.seal();
        assert.deepEqual(summed.accounts, model.accounts);
        assert.deepEqual(root, await summed.computeTrieRoot());
        await compareReads(state, model);
        // What was put is enough to go on from.
        const {length} = store.pages;
        await compareReads(open(store, new StateTrie(store, trie.newest)).state, model);
        assert.equal(store.pages.length, length, "a read put a page");
      }
    }),
    {numRuns: propertyRuns(10)},
  );
});

function open(store: TrieStore, trie: StateTrie) {
  const chain = new ChainState(store, trie, () => assert.fail("nobody asks for the hash of a block"));
  const evm = new Evm();
  evm.moveTo(chain);
  return {evm, chain, state: new EvmState(evm, trie)};
}

/** The slow reference: everything copied at each checkpoint. */
class Model {
  accounts = new Map<string, MemoryAccount>();
  private readonly saved: Map<string, MemoryAccount>[] = [];

  get depth(): number {
    return this.saved.length;
  }

  checkpoint(): void {
    this.saved.push(structuredClone(this.accounts));
  }

  commit(): void {
    this.saved.pop();
  }

  revert(): void {
    this.accounts = this.saved.pop() ?? assert.fail("nothing to revert to");
  }
}

async function take(next: Step, state: EvmState, model: Model): Promise<void> {
  if (next.kind === "checkpoint") {
    model.checkpoint();
    return state.checkpoint();
  }
  if (next.kind === "commit" || next.kind === "revert") {
    if (model.depth === 0) return;
    model[next.kind]();
    return state[next.kind]();
  }
  if (next.kind === "root") return void (await state.getStateRoot());
  const address = addressOf(next.account);
  const name = address.toString();
  const held = model.accounts.get(name);
  if (next.kind === "put") {
    const [nonce, balance] = [BigInt(next.nonce), BigInt(next.balance)];
    const before = (await state.getAccount(address)) ?? new Account();
    await state.putAccount(address, new Account(nonce, balance, before.storageRoot, before.codeHash));
    model.accounts.set(name, {...(held ?? {code: new Uint8Array(0), slots: new Map()}), nonce, balance});
  } else if (next.kind === "delete") {
    await state.deleteAccount(address);
    model.accounts.delete(name);
  } else if (held === undefined) {
    return;
  } else if (next.kind === "code") {
    held.code = new Uint8Array(next.code).fill(next.code);
    await state.putCode(address, held.code);
  } else if (next.kind === "clear") {
    await state.clearStorage(address);
    held.slots.clear();
  } else {
    await state.putStorage(address, word(next.slot), word(next.value));
    if (next.value === 0) held.slots.delete(toHex(word(next.slot)));
    else held.slots.set(toHex(word(next.slot)), toHex(word(next.value)));
  }
}

async function compareReads(state: EvmState, model: Model): Promise<void> {
  for (let index = 0; index <= 4; index++) {
    const address = addressOf(index);
    const held = model.accounts.get(address.toString());
    const account = await state.getAccount(address);
    assert.deepEqual(account && [account.nonce, account.balance], held && [held.nonce, held.balance]);
    assert.deepEqual(Buffer.from(await state.getCode(address)), Buffer.from(held?.code ?? []));
    for (let slot = 0; slot <= 20; slot++) {
      const value = Buffer.from(await state.getStorage(address, word(slot))).toString("hex");
      assert.equal(`0x${value.padStart(64, "0")}`, held?.slots.get(toHex(word(slot))) ?? toHex(word(0)));
    }
  }
}

function addressOf(index: number): Address {
  return new Address(new Uint8Array(20).fill(0xa0 + index));
}

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes[31] = value;
  return bytes;
}
