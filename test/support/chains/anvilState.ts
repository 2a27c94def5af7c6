/**
 * The state file with which anvil starts at a genesis block (`anvil --load-state`). `anvil --init` cannot be used where the
 * block's hash counts: it leaves the state root of block 0 that of an empty state (anvil 1.7.1).
 */
import type {BlockHead} from "../../../evm/execution/blockHead.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {type GenesisAccount, listAccounts, parseGenesis} from "../evm/genesisText.ts";

/** The first accounts that anvil has keys for (`--accounts 4`). It gives them ether, so a genesis must have them too. */
export const ANVIL_ACCOUNTS: readonly string[] = [
  "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
  "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
  "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
];

const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
const NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
const NO_REQUESTS = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const INITIAL_BASE_FEE = 1_000_000_000n;

/** @param genesisText - geth's genesis file. @returns the file's text */
export async function makeAnvilState(genesisText: string): Promise<string> {
  const genesis = parseGenesis(genesisText);
  const {head} = await makeGenesisBlock(genesis, new MemoryTries());
  const {coinbase, timestamp, gasLimit, mixHash} = genesis;
  return JSON.stringify({
    block: {
      number: "0x0",
      beneficiary: toHex(coinbase),
      timestamp: quantity(timestamp),
      gas_limit: Number(gasLimit),
      basefee: Number(head.baseFeePerGas ?? 0n),
      difficulty: "0x0",
      prevrandao: toHex(mixHash),
      blob_excess_gas_and_price: {excess_blob_gas: Number(genesis.excessBlobGas), blob_gasprice: 1},
      slot_num: 0,
    },
    accounts: Object.fromEntries(
      listAccounts(genesis).map(account => [toHex(account.address), encode(account)]),
    ),
    best_block_number: 0,
    blocks: [{header: encodeHeader(genesis, head), transactions: [], ommers: [], withdrawals: []}],
    transactions: [],
  });
}

function encode({nonce, balance, code, storage}: GenesisAccount): object {
  return {
    nonce: Number(nonce),
    balance: quantity(balance),
    code: toHex(code),
    storage: Object.fromEntries(storage.map(({slot, value}) => [toHex(slot), toHex(value)])),
  };
}

function encodeHeader(genesis: Genesis, head: BlockHead): object {
  const isActive = (fork: string): boolean =>
    genesis.forks.isActive(fork, {number: 0, timestamp: genesis.timestamp});
  return {
    parentHash: toHex(genesis.parentHash),
    sha3Uncles: NO_UNCLES,
    miner: toHex(genesis.coinbase),
    stateRoot: toHex(head.stateRoot),
    transactionsRoot: EMPTY_TRIE,
    receiptsRoot: EMPTY_TRIE,
    logsBloom: `0x${"00".repeat(256)}`,
    difficulty: quantity(genesis.difficulty),
    number: "0x0",
    gasLimit: quantity(genesis.gasLimit),
    gasUsed: quantity(genesis.gasUsed),
    timestamp: quantity(genesis.timestamp),
    extraData: toHex(genesis.extraData),
    mixHash: toHex(genesis.mixHash),
    nonce: `0x${genesis.nonce.toString(16).padStart(16, "0")}`,
    ...(isActive("london") && {baseFeePerGas: quantity(genesis.baseFeePerGas ?? INITIAL_BASE_FEE)}),
    ...(isActive("shanghai") && {withdrawalsRoot: EMPTY_TRIE}),
    ...(isActive("cancun") && {
      blobGasUsed: quantity(genesis.blobGasUsed),
      excessBlobGas: quantity(genesis.excessBlobGas),
      parentBeaconBlockRoot: `0x${"00".repeat(32)}`,
    }),
    ...(isActive("prague") && {requestsHash: NO_REQUESTS}),
  };
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
