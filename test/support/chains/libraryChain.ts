/** A chain that @ethereumjs makes of any transactions, whether they fail or not, under one hard fork since the merge. */
import {type BlockHeader, createBlock, createBlockHeader, genWithdrawalsTrieRoot} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {Blob4844Tx, type TypedTransaction} from "@ethereumjs/tx";
import {createAddressFromString, createWithdrawal, type PrefixedHexString} from "@ethereumjs/util";
import {createVM, runBlock, type VM} from "@ethereumjs/vm";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import {ExecutionState} from "../../../evm/execution/executionState.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import {type Genesis, parseGenesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import type {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {MemoryNodes} from "./memoryNodes.ts";

const BLOB_GAS = 131_072n;
const BLOCK_SECONDS = 12n;

interface BlockFields {
  readonly coinbase: string;
  /** Address and gwei. */
  readonly withdrawals: readonly (readonly [string, bigint])[];
}

export class LibraryChain {
  private readonly hashes: Uint8Array[] = [];

  private constructor(
    readonly genesis: Genesis,
    readonly common: Common,
    private readonly state: ExecutionState,
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
    const nodes = new MemoryNodes();
    const {head} = await makeGenesisBlock(genesis, nodes);
    const state = new ExecutionState(nodes);
    await state.setStateRoot(head.stateRoot);
    const common = createChainRules(genesis.forks);
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
    const accounts = await state.listDifferences();
    await state.seal();
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
