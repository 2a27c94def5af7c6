/** A genesis file, read as a stream: its state root in every layout, and what is refused. */
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {gzipSync} from "node:zlib";
import fc from "fast-check";
import {makeGenesisBlock} from "../../../../evm/execution/genesisBlock.ts";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";
import {StateTrie} from "../../../../storage/commit/stateTrie.ts";
import {toHex} from "../../../../storage/hex.ts";
import {MemoryTries} from "../../../../storage/trie/memoryTries.ts";
import {readGenesis} from "../../../../workers/import/genesisFile.ts";
import {propertyRuns} from "../../../support/soak.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const path = join(makeTemporaryFolder(), "genesis.json");
const {signal} = new AbortController();

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const accounts = fc.uniqueArray(
  fc.record({
    address: bytes(20),
    nonce: fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 64n - 1n)),
    balance: fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 256n - 1n)),
    // The longest goes over several chunks.
    code: fc.oneof({weight: 9, arbitrary: fc.uint8Array()}, {weight: 1, arbitrary: bytes(400_000)}),
    storage: fc.uniqueArray(fc.record({slot: bytes(32), value: fc.oneof(bytes(32), bytes(1))}), {
      selector: ({slot}) => toHex(slot),
      maxLength: 5,
    }),
  }),
  {selector: ({address}) => toHex(address), maxLength: 20},
);
type Accounts = typeof accounts extends fc.Arbitrary<infer Value> ? Value : never;

/** The root that the same accounts give without a file. */
function expectedRoot(list: Accounts): string {
  const differences = new AccountDifferences();
  for (const {address, storage, ...fields} of list) {
    const slots = storage.map(({slot, value}) => ({
      slot,
      value: Buffer.concat([Buffer.alloc(32 - value.length), value]),
    }));
    differences.add({address, change: {...fields, storage: slots}});
  }
  return toHex(new StateTrie(new MemoryTries()).change(differences));
}

function encode(list: Accounts, space: number): string {
  const alloc = list.map(({address, nonce, balance, code, storage}) => [
    toHex(address),
    {
      balance: `0x${balance.toString(16)}`,
      nonce: String(nonce),
      code: toHex(code),
      storage: Object.fromEntries(storage.map(({slot, value}) => [toHex(slot), toHex(value)])),
    },
  ]);
  const rest = {config: {chainId: 1}, gasLimit: "0x1", difficulty: "0x0"};
  return JSON.stringify({...rest, Alloc: Object.fromEntries(alloc), timestamp: 1}, undefined, space);
}

test("random accounts give the same state root from a file, on one line or many, plain or gzip", async () => {
  const layouts = fc.record({space: fc.nat(2), isPacked: fc.boolean()});
  await fc.assert(
    fc.asyncProperty(accounts, layouts, async (list, {space, isPacked}) => {
      const text = encode(list, space);
      writeFileSync(path, isPacked ? gzipSync(text) : text);
      const genesis = (await readGenesis(path, signal)).parse();
      const {head} = await makeGenesisBlock(genesis, new MemoryTries());
      assert.equal(toHex(head.stateRoot), expectedRoot(list));
    }),
    {numRuns: propertyRuns(60)},
  );
});

const REFUSED: readonly (readonly [text: string, message: RegExp])[] = [
  ["{", /^genesis: the file is not JSON: line 1: the input ends within it/],
  ['{"alloc": {}}\n{}', /not JSON: line 2: expected the end of the line, got "{"$/],
  ['{"alloc": 5}', /not JSON: line 1: alloc is not an object$/],
  ['{\n"gasLimit": 0x1\n}', /not JSON: line 3: Unexpected/],
  ['{"alloc":{"0x\n', /not JSON: line 1: it ends within a string/],
  ['{"alloc":{},"Alloc":{}}', /^genesis: alloc is there twice$/],
];

for (const [text, message] of REFUSED)
  test(`the file ${JSON.stringify(text)} is refused`, async () => {
    writeFileSync(path, text);
    await assert.rejects(readGenesis(path, signal), {code: "GENESIS_INVALID", message});
  });
