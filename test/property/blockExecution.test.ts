/** Random blocks that @ethereumjs makes: our own EVM finds every one to be as its header says, and changes what the library changes. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {
  type BlockHeader,
  createBlock,
  createBlockHeader,
  genWithdrawalsTrieRoot,
  paramsBlock,
} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {Blob4844Tx, createTx, type TypedTransaction} from "@ethereumjs/tx";
import {
  createAddressFromString,
  createWithdrawal,
  eoaCode7702SignAuthorization,
  generateAddress2,
  type PrefixedHexString,
} from "@ethereumjs/util";
import {createVM, runBlock, type VM} from "@ethereumjs/vm";
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {BlockExecutor} from "../../evm/execution/blockExecutor.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import type {Genesis} from "../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../evm/execution/genesisBlock.ts";
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {encodeNumber} from "../../storage/rlp/rlpWriter.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import {sortSlots, toPlain} from "../support/chains/executedChain.ts";
import {KEYS, PEOPLE} from "../support/chains/people.ts";
import {randomTraffic} from "../support/chains/randomTraffic.ts";
import {codeOf} from "../support/estimates/assembler.ts";
import {PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {createFullRules} from "../support/evm/fullRules.ts";
import {parseGenesis} from "../support/evm/genesisText.ts";
import {LibraryState} from "../support/evm/libraryState.ts";
import {propertyRuns} from "../support/soak.ts";

const BLOB_GAS = 131_072n;
const BLOCK_SECONDS = 12n;
const NOTHING = new Uint8Array(0);

interface BlockFields {
  readonly coinbase: string;
  /** Address and gwei. */
  readonly withdrawals: readonly (readonly [string, bigint])[];
}

class LibraryChain {
  private readonly hashes: Uint8Array[] = [];

  private constructor(
    readonly genesis: Genesis,
    readonly common: Common,
    private readonly state: LibraryState,
    private parent: BlockHeader,
  ) {}

  /** @param alloc - as in a genesis file */
  static async create(fork: string, chainId: number, alloc: object): Promise<LibraryChain> {
    const limits = {target: 6, max: 9, baseFeeUpdateFraction: 5_007_716};
    const genesis = parseGenesis(
      JSON.stringify({
        config: {...configOfFork(fork), chainId, blobSchedule: {prague: limits, osaka: limits}},
        ...{gasLimit: "0x1c9c380", difficulty: "0x0", baseFeePerGas: "0x7", timestamp: "0x64", alloc},
      }),
    );
    const {head, difference} = await makeGenesisBlock(genesis, new MemoryTries());
    const state = LibraryState.of(difference);
    const common = createFullRules(genesis.forks);
    common.updateParams(paramsBlock);
    common.setHardfork(fork);
    const {stateRoot, timestamp, gasLimit, baseFeePerGas = 7n} = head;
    const header = createBlockHeader({stateRoot, timestamp, gasLimit, baseFeePerGas}, {common});
    return new LibraryChain(genesis, common, state, header);
  }

  get nextBaseFee(): bigint {
    return this.parent.calcNextBaseFee();
  }

  /** @returns the block's RLP, and what it changes */
  async build(
    transactions: readonly TypedTransaction[],
    fields: BlockFields,
  ): Promise<{encoded: Uint8Array; accounts: AccountDifferences}> {
    const {common, parent, state} = this;
    const blobs = transactions.reduce(
      (sum, one) => sum + (one instanceof Blob4844Tx ? one.blobVersionedHashes.length : 0),
      0,
    );
    const withdrawals = fields.withdrawals.map(([address, amount], index) =>
      createWithdrawal({index, validatorIndex: 1n, address: createAddressFromString(address), amount}),
    );
    const draft = {
      number: parent.number + 1n,
      parentHash: parent.hash(),
      timestamp: parent.timestamp + BLOCK_SECONDS,
      gasLimit: parent.gasLimit,
      baseFeePerGas: this.nextBaseFee,
      coinbase: fields.coinbase as PrefixedHexString,
      mixHash: new Uint8Array(32).fill(Number(parent.number)),
      ...(common.isActivatedEIP(4895) && {withdrawalsRoot: await genWithdrawalsTrieRoot(withdrawals)}),
      ...(common.isActivatedEIP(4844) && {
        parentBeaconBlockRoot: new Uint8Array(32).fill(9),
        blobGasUsed: BLOB_GAS * BigInt(blobs),
        excessBlobGas: parent.calcNextExcessBlobGas(common),
      }),
    };
    const body = {transactions: [...transactions], ...(common.isActivatedEIP(4895) && {withdrawals})};
    const unsealed = createBlock({header: draft, ...body}, {common});
    const transactionsTrie = await unsealed.genTxTrie();
    const block = createBlock({header: {...draft, transactionsTrie}, ...body}, {common});
    const result = await runBlock(await this.createVm(), {block, generate: true, skipHeaderValidation: true});
    const header = {
      ...{...draft, transactionsTrie, stateRoot: result.stateRoot, receiptTrie: result.receiptsRoot},
      ...{logsBloom: result.logsBloom, gasUsed: result.gasUsed},
      ...(result.requestsHash !== undefined && {requestsHash: result.requestsHash}),
    };
    const sealed = createBlock({header, ...body}, {common});
    const accounts = state.listDifferences();
    state.seal();
    this.hashes.push(parent.hash());
    this.parent = sealed.header;
    return {encoded: sealed.serialize(), accounts};
  }

  private createVm(): Promise<VM> {
    const {common, state: stateManager} = this;
    const blockchain = {
      getBlock: async (number: number) => ({hash: () => this.hashes[number] ?? this.parent.hash()}),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    return createVM({
      common,
      stateManager,
      blockchain,
      evmOpts: {common, stateManager, blockchain},
    } as object);
  }
}

const CHAIN_ID = 1234;
const ABILITIES = {hardfork: "cancun", addresses: PEOPLE.map(BigInt)};
const NOBODY = `0x${"5a".repeat(20)}`;
const DEPOSITS = `0x${"00".repeat(20)}`;
/** Writes slots, one with the hash of block 0, and logs. It creates nothing, so that the nonces of who delegates to it are known. */
const DELEGATE = `0x${"de".repeat(20)}`;
const DELEGATE_CODE = {balance: "0x0", code: "0x3360005547600155600040600255600080a000"};
const RICH = {balance: `0x${(10n ** 24n).toString(16)}`};

const systemContracts = JSON.parse(
  readFileSync(
    fileURLToPath(new URL("demo/systemContracts.json", import.meta.resolve("#package/package.json"))),
    "utf8",
  ),
).contracts as {address: string; code: string}[];
const OLD_FORKS = ["paris", "shanghai"];
const FACTORY = `0x${"fa".repeat(20)}`;
const SYSTEM = Object.fromEntries(
  systemContracts.map(({address, code}) => [address, {balance: "0x0", nonce: "0x1", code}]),
);

const programAt = (at: number) => `0x${(PROGRAM_ADDRESSES[at] as bigint).toString(16).padStart(40, "0")}`;
const target = fc.constantFrom(
  ...PROGRAM_ADDRESSES.map((_, at) => programAt(at)),
  ...PEOPLE,
  ...Object.keys(SYSTEM),
  ...[DELEGATE, NOBODY, DEPOSITS, `0x${"00".repeat(19)}05`, `0x${"00".repeat(19)}08`],
);
const slot = fc.integer({min: 0, max: 5}).map(at => `0x${at.toString(16).padStart(64, "0")}`);

const sent = fc.record({
  type: fc.constantFrom(0, 1, 2, 2, 3, 4),
  from: fc.integer({min: 0, max: KEYS.length - 1}),
  to: fc.option(target, {freq: 8, nil: undefined}),
  initcode: randomProgram(ABILITIES),
  data: fc.uint8Array({maxLength: 200}),
  value: fc.constantFrom(0n, 0n, 1n, 1000n, 10n ** 18n),
  gas: fc.constantFrom(150_000n, 300_000n, 900_000n),
  fee: fc.constantFrom(0n, 1n, 100n, 10n ** 9n),
  tip: fc.constantFrom(0n, 1n, 100n, 10n ** 9n),
  listed: fc.array(fc.tuple(target, fc.array(slot, {maxLength: 3})), {maxLength: 3}),
  blobs: fc.integer({min: 1, max: 3}),
  delegations: fc.array(
    fc.record({
      by: fc.integer({min: 0, max: KEYS.length - 1}),
      to: fc.constantFrom(DELEGATE, DELEGATE, DEPOSITS, PEOPLE[0] as string, NOBODY),
      distance: fc.constantFrom(0n, 0n, 0n, 1n),
      chainId: fc.constantFrom(0n, BigInt(CHAIN_ID), 7n),
    }),
    {minLength: 1, maxLength: 3},
  ),
});
type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;

const CALL: Omit<Sent, "to" | "value"> = {
  type: 2,
  from: 0,
  initcode: NOTHING,
  data: NOTHING,
  gas: 150_000n,
  fee: 0n,
  tip: 0n,
  listed: [],
  blobs: 1,
  delegations: [],
};

/** What a block of cancun may have. A block with more is refused. */
const MOST_BLOBS = 6;

const block = fc.record({
  transactions: fc
    .array(sent, {maxLength: 5})
    .filter(all => all.reduce((sum, {type, blobs}) => sum + (type === 3 ? blobs : 0), 0) <= MOST_BLOBS),
  coinbase: fc.constantFrom(NOBODY, PEOPLE[1] as string, programAt(2), `0x${"5b".repeat(20)}`),
  withdrawals: fc.array(fc.tuple(target, fc.constantFrom(0n, 1n, 5n)), {maxLength: 3}),
});

for (const fork of [...OLD_FORKS, "cancun", "prague", "osaka"])
  test(`random blocks of ${fork} are as their headers say, and change what the library changes`, async () => {
    const programs = randomTraffic(fork, {minLength: 1, maxLength: 1});
    await fc.assert(
      fc.asyncProperty(programs, fc.array(block, {minLength: 1, maxLength: 4}), async ({alloc}, blocks) => {
        const people = Object.fromEntries(PEOPLE.map(address => [address, RICH]));
        const chain = await LibraryChain.create(fork, CHAIN_ID, {
          ...people,
          ...SYSTEM,
          ...alloc,
          [DELEGATE]: DELEGATE_CODE,
        });
        const executor = await startExecutor(chain);
        const signer = new Signer(chain, fork);
        for (const {transactions, ...fields} of blocks) {
          const signed = transactions.flatMap(one => signer.sign(one));
          const {encoded, accounts} = await chain.build(signed, fields);
          assertChanges(await executor.execute(encoded), accounts);
        }
      }),
      {numRuns: propertyRuns(4)},
    );
  });

const DESTROY = "CALLER SELFDESTRUCT";

// The contract is destroyed by one transaction and created by the next. At the address with a balance, one transaction
// creates and destroys a contract, and the next sends ether.
for (const [what, account, initcode, isCreatedFirst, forks] of [
  [
    "a contract",
    {code: codeOf(DESTROY), storage: {"0x1": "0x7"}},
    "PUSH1 5 PUSH1 2 SSTORE",
    false,
    OLD_FORKS,
  ],
  ["a balance", {}, DESTROY, true, [...OLD_FORKS, "cancun"]],
] as const)
  for (const fork of forks)
    test(`${fork}: ${what} that a block deletes and creates again is reset`, async () => {
      const made = encodeHex(
        generateAddress2(decodeHex(FACTORY), new Uint8Array(32), decodeHex(codeOf(initcode))),
      );
      const chain = await LibraryChain.create(fork, CHAIN_ID, {
        ...Object.fromEntries(PEOPLE.map(address => [address, RICH])),
        ...SYSTEM,
        [FACTORY]: {balance: "0x0", code: create2Of(codeOf(initcode))},
        [made]: {balance: "0x10", ...account},
      });
      const executor = await startExecutor(chain);
      const signer = new Signer(chain, fork);
      const transactions = (isCreatedFirst ? [FACTORY, made] : [made, FACTORY]).flatMap(to =>
        signer.sign({...CALL, to, value: to === made ? 1n : 0n}),
      );
      const {encoded, accounts} = await chain.build(transactions, {coinbase: NOBODY, withdrawals: []});
      const difference = await executor.execute(encoded);
      assertChanges(difference, accounts);
      assert.equal(toPlain(difference).changes.get(made)?.reset, true);
    });

/** @returns code that creates a contract by CREATE2 with salt 0. @param initcode - at most 32 bytes */
function create2Of(initcode: string): string {
  const {length} = decodeHex(initcode);
  const store = `PUSH${length} ${initcode} PUSH1 0 MSTORE`;
  return codeOf(`${store} PUSH1 0 PUSH1 ${length} PUSH1 ${32 - length} PUSH1 0 CREATE2 STOP`);
}

function startExecutor({genesis}: LibraryChain): Promise<BlockExecutor> {
  const options = {forks: genesis.forks, store: new MemoryTries(), blockHash: () => undefined};
  return BlockExecutor.start(options, genesis).then(({executor}) => executor);
}

function assertChanges(made: BlockDifference, accounts: AccountDifferences): void {
  assert.deepEqual(sortSlots(toPlain(made)), sortSlots(toPlain({...made, accounts})));
}

/** Signs transactions that may stand in a block: types that the fork has, and the right nonces, whatever delegations do to them. */
class Signer {
  private readonly nonces = KEYS.map(() => 0n);

  constructor(
    private readonly chain: LibraryChain,
    private readonly fork: string,
  ) {}

  sign(given: Sent): TypedTransaction[] {
    const {from, to, initcode, value, gas: gasLimit, fee, tip, listed, delegations} = given;
    const type = given.type > this.newestType ? 2 : given.type;
    const place = to ?? (type > 2 ? NOBODY : undefined);
    const nonce = this.nonces[from] as bigint;
    this.nonces[from] = nonce + 1n;
    const price = this.chain.nextBaseFee + fee;
    const fields = {
      ...{nonce, gasLimit, value, data: place === undefined ? initcode : given.data},
      ...(place !== undefined && {to: place as PrefixedHexString}),
      ...(type < 2
        ? {gasPrice: price}
        : {maxFeePerGas: price, maxPriorityFeePerGas: tip < price ? tip : price, chainId: BigInt(CHAIN_ID)}),
      ...(type > 0 && {
        accessList: listed.map(([address, storageKeys]) => ({address, storageKeys})),
      }),
      ...(type === 3 && {
        maxFeePerBlobGas: 10n ** 9n,
        blobVersionedHashes: Array.from({length: given.blobs}, () => `0x01${"ab".repeat(31)}`),
      }),
      ...(type === 4 && {authorizationList: delegations.map(one => this.authorize(one))}),
    };
    const {common} = this.chain;
    return [
      createTx({...fields, type} as Parameters<typeof createTx>[0], {common}).sign(KEYS[from] as Uint8Array),
    ];
  }

  private get newestType(): number {
    if (["prague", "osaka"].includes(this.fork)) return 4;
    return this.fork === "cancun" ? 3 : 2;
  }

  private authorize({by, to, distance, chainId}: Sent["delegations"][number]) {
    const nonce = (this.nonces[by] as bigint) + distance;
    if (distance === 0n && chainId !== 7n) this.nonces[by] = nonce + 1n;
    const fields = [encodeNumber(chainId), Buffer.from(to.slice(2), "hex"), encodeNumber(nonce)] as const;
    return eoaCode7702SignAuthorization(
      fields.map(one => new Uint8Array(one)) as [Uint8Array, Uint8Array, Uint8Array],
      KEYS[by] as Uint8Array,
    );
  }
}
