/**
 * Makes a chain: collects signed transactions and executes them block by block.
 *
 * State is kept by @ethereumjs' own MerkleStateManager, not by evm/execution. So an import of the result tests one
 * against the other.
 */
import {
  type Block,
  type BlockHeader,
  createBlock,
  createBlockHeader,
  genWithdrawalsTrieRoot,
} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {Caches, MerkleStateManager} from "@ethereumjs/statemanager";
import {
  createAccessList2930Tx,
  createEOACode7702Tx,
  createFeeMarket1559Tx,
  createLegacyTx,
  type TypedTransaction,
} from "@ethereumjs/tx";
import {createWithdrawal, eoaCode7702SignAuthorization, type PrefixedHexString} from "@ethereumjs/util";
import {createVM, runBlock, type VM} from "@ethereumjs/vm";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {createFullRules} from "../evm/fullRules.ts";
import {listAccounts, parseGenesis} from "../evm/genesisText.ts";
import {type DemoAccount, hashLabel} from "./demoAccount.ts";

export interface DemoTransaction {
  /** Without it the transaction creates a contract. */
  readonly to?: Uint8Array;
  readonly value?: bigint;
  readonly input?: Uint8Array;
  readonly gasLimit?: bigint;
  readonly kind?: "legacy" | "2930" | "1559" | "7702";
  /** Only for kinds 2930 and 1559. */
  readonly accessList?: readonly {readonly address: Uint8Array; readonly slots: readonly Uint8Array[]}[];
  /** Only for kind 7702: `authority` runs the code of `delegate` from now on. 20 zero bytes end that. */
  readonly delegations?: readonly {readonly authority: DemoAccount; readonly delegate: Uint8Array}[];
  readonly reverts?: boolean;
}

export interface DemoWithdrawal {
  readonly address: Uint8Array;
  /** Gwei. */
  readonly amount: bigint;
}

/** Every block uses less than half of it, so that the base fee stays at its minimum, 7 wei. */
export const GAS_LIMIT = 30_000_000n;
export const BASE_FEE = 7n;
const BLOCK_SECONDS = 12n;
const TIP = 1_000_000_000n;
const MAX_FEE = 2_000_000_000n;
const DEFAULT_GAS_LIMIT = 150_000n;

export class DemoChain {
  /** RLP of all blocks from block 1 on. */
  readonly blocks: Uint8Array[] = [];
  private parent: BlockHeader;
  private transactions: TypedTransaction[] = [];
  private mayRevert: boolean[] = [];
  private withdrawals = 0n;

  private constructor(
    private readonly common: Common,
    private readonly vm: VM,
    genesisHeader: BlockHeader,
    private readonly miner: Uint8Array,
  ) {
    this.parent = genesisHeader;
  }

  static async create(genesisText: string, miner: Uint8Array): Promise<DemoChain> {
    const genesis = parseGenesis(genesisText);
    const common = createFullRules(genesis.forks);
    common.setHardfork(genesis.forks.forkAt({number: 1, timestamp: genesis.timestamp, difficulty: 0n}));
    const stateManager = new MerkleStateManager({common, caches: new Caches()});
    await stateManager.generateCanonicalGenesis(toGenesisState(genesis));
    const stateRoot = await stateManager.getStateRoot();
    const {head} = await makeGenesisBlock(genesis, new MemoryTries());
    const {timestamp, gasLimit, extraData, baseFeePerGas = BASE_FEE} = genesis;
    const header = createBlockHeader(
      {number: 0n, stateRoot, timestamp, gasLimit, extraData, baseFeePerGas},
      {common},
    );
    if (Buffer.compare(header.hash(), head.hash) !== 0)
      throw new Error("two ways to make the genesis block give two hashes");
    return new DemoChain(common, await createVM({common, stateManager}), header, miner);
  }

  get number(): number {
    return Number(this.parent.number) + 1;
  }

  send(from: DemoAccount, transaction: DemoTransaction): void {
    this.transactions.push(signTransaction(this.common, from, transaction));
    this.mayRevert.push(transaction.reverts === true);
  }

  async seal(withdrawals: readonly DemoWithdrawal[] = []): Promise<void> {
    const block = await this.draft(withdrawals);
    const result = await runBlock(this.vm, {block, generate: true, skipHeaderValidation: true});
    result.results.forEach(({execResult: {exceptionError}}, index) => {
      if ((exceptionError !== undefined) !== this.mayRevert[index])
        throw new Error(
          `block ${this.number}, transaction ${index}: ${exceptionError?.error ?? "did not revert"}`,
        );
    });
    const header = {
      ...block.header,
      stateRoot: result.stateRoot,
      receiptTrie: result.receiptsRoot,
      logsBloom: result.logsBloom,
      gasUsed: result.gasUsed,
      ...(result.requestsHash !== undefined && {requestsHash: result.requestsHash}),
    };
    const sealed = createBlock(
      {header, transactions: block.transactions, withdrawals: block.withdrawals ?? []},
      {common: this.common},
    );
    this.blocks.push(sealed.serialize());
    this.parent = sealed.header;
    this.transactions = [];
    this.mayRevert = [];
  }

  private async draft(withdrawals: readonly DemoWithdrawal[]): Promise<Block> {
    const {number, parent} = this;
    const baseFeePerGas = parent.calcNextBaseFee();
    if (baseFeePerGas !== BASE_FEE) throw new Error(`block ${number}: base fee ${baseFeePerGas}`);
    const items = withdrawals.map(({address, amount}) =>
      createWithdrawal({index: this.withdrawals++, validatorIndex: 1n, address, amount}),
    );
    const header = {
      number,
      parentHash: parent.hash(),
      timestamp: parent.timestamp + BLOCK_SECONDS,
      gasLimit: GAS_LIMIT,
      baseFeePerGas,
      coinbase: this.miner,
      extraData: Buffer.from("proofd demo"),
      mixHash: hashLabel(`random value of block ${number}`),
      parentBeaconBlockRoot: hashLabel(`beacon block before block ${number}`),
      withdrawalsRoot: await genWithdrawalsTrieRoot(items, new MerklePatriciaTrie()),
    };
    const {transactions} = this;
    const draft = createBlock({header, transactions, withdrawals: items}, {common: this.common});
    const transactionsTrie = await draft.genTxTrie();
    return createBlock(
      {header: {...header, transactionsTrie}, transactions, withdrawals: items},
      {common: this.common},
    );
  }
}

/** Counts the nonces of the sender and of those who delegate. The bytes are the same each time: there is no extra entropy. */
export function signTransaction(
  common: Common,
  from: DemoAccount,
  transaction: DemoTransaction,
): TypedTransaction {
  const unsigned = createTransaction(common, from, transaction);
  from.nonce++;
  for (const {authority} of transaction.delegations ?? []) authority.nonce++;
  return unsigned.sign(from.key, false);
}

function createTransaction(
  common: Common,
  from: DemoAccount,
  transaction: DemoTransaction,
): TypedTransaction {
  const {
    kind = "1559",
    to,
    value = 0n,
    input = new Uint8Array(0),
    gasLimit = DEFAULT_GAS_LIMIT,
  } = transaction;
  const base = {nonce: from.nonce, gasLimit, value, data: input, ...(to !== undefined && {to})};
  const accessList = (transaction.accessList ?? []).map(({address, slots}) => ({
    address: toHex(address) as PrefixedHexString,
    storageKeys: slots.map(slot => toHex(slot) as PrefixedHexString),
  }));
  const fees = {maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP};
  if (kind === "legacy") return createLegacyTx({...base, gasPrice: TIP + BASE_FEE}, {common});
  if (kind === "2930")
    return createAccessList2930Tx({...base, gasPrice: TIP + BASE_FEE, accessList}, {common});
  if (kind === "1559") return createFeeMarket1559Tx({...base, ...fees, accessList}, {common});
  const authorizationList = (transaction.delegations ?? []).map(({authority, delegate}) =>
    eoaCode7702SignAuthorization(
      {
        chainId: `0x${common.chainId().toString(16)}`,
        address: toHex(delegate) as PrefixedHexString,
        // The sender's own nonce has risen by the time authorizations are read.
        nonce: `0x${(authority === from ? authority.nonce + 1n : authority.nonce).toString(16)}`,
      },
      authority.key,
    ),
  );
  return createEOACode7702Tx({...base, ...fees, authorizationList}, {common});
}

/** @ethereumjs' form of an allocation. */
function toGenesisState(genesis: Genesis): Record<string, unknown[]> {
  return Object.fromEntries(
    listAccounts(genesis).map(({address, balance, nonce, code, storage}) => [
      toHex(address),
      [
        `0x${balance.toString(16)}`,
        code.length > 0 ? toHex(code) : undefined,
        storage.map(({slot, value}) => [toHex(slot), toHex(value)]),
        `0x${nonce.toString(16)}`,
      ],
    ]),
  );
}
