/** Builds block 0 from a genesis file as geth does: state trie, header and hash. */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {StateTrie} from "../../storage/commit/stateTrie.ts";
import {encodeList, encodeNumber} from "../../storage/rlp/rlpWriter.ts";
import {EMPTY_ROOT, type TrieRoot} from "../../storage/trie/trie.ts";
import type {TrieStore} from "../../storage/trie/trieStore.ts";
import {NO_UNCLES} from "./block/decodedBlock.ts";
import {type BlockHead, decodeBlockHead} from "./blockHead.ts";
import type {Genesis} from "./genesis.ts";
import {INITIAL_BASE_FEE} from "./rules/fees.ts";
import {hashRequests} from "./run/requests.ts";

const LOGS_BLOOM_BYTES = 256;

export async function makeGenesisBlock(
  genesis: Genesis,
  store: TrieStore,
  signal?: AbortSignal,
): Promise<{head: BlockHead; difference: BlockDifference; trie: TrieRoot}> {
  const {accounts} = genesis;
  const trie = await new StateTrie(store).apply(accounts, undefined, signal);
  const head = decodeBlockHead(encodeList([headerFields(genesis, trie.root), [], []]), "block 0");
  const chain = {chainId: genesis.chainId, config: genesis.config};
  return {head, trie, difference: {header: head, accounts, chain}};
}

/** The fields that geth's Genesis.ToBlock sets: a base fee in the file is kept even before london. */
function headerFields(genesis: Genesis, stateRoot: Uint8Array): Uint8Array[] {
  const moment = {number: 0, timestamp: genesis.timestamp};
  const nonce = Buffer.alloc(8);
  nonce.writeBigUInt64BE(genesis.nonce);
  const fields = [
    genesis.parentHash,
    NO_UNCLES,
    genesis.coinbase,
    stateRoot,
    EMPTY_ROOT,
    EMPTY_ROOT,
    new Uint8Array(LOGS_BLOOM_BYTES),
    ...[genesis.difficulty, 0n, genesis.gasLimit, genesis.gasUsed, genesis.timestamp].map(encodeNumber),
    genesis.extraData,
    genesis.mixHash,
    nonce,
  ];
  const {baseFeePerGas} = genesis;
  if (baseFeePerGas !== undefined || genesis.forks.isActive("london", moment))
    fields.push(encodeNumber(baseFeePerGas ?? INITIAL_BASE_FEE));
  if (genesis.forks.isActive("shanghai", moment)) fields.push(EMPTY_ROOT);
  if (genesis.forks.isActive("cancun", moment))
    fields.push(...[genesis.blobGasUsed, genesis.excessBlobGas].map(encodeNumber), new Uint8Array(32));
  if (genesis.forks.isActive("prague", moment)) fields.push(hashRequests([]));
  return fields;
}
