/**
 * Block 0 as geth makes it from a genesis file: the state's trie, the header, its hash.
 */
import {RLP} from "@ethereumjs/rlp";
import {
  Account,
  KECCAK256_NULL,
  KECCAK256_RLP,
  KECCAK256_RLP_ARRAY,
  SHA256_NULL,
  unpadBytes,
} from "@ethereumjs/util";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {type BlockHead, decodeBlockHead} from "./blockHead.ts";
import type {Genesis, GenesisAccount} from "./genesis.ts";
import {INITIAL_BASE_FEE} from "./rules/fees.ts";
import {codeKey, type TrieNodes, TrieOverlay} from "./trieNodes.ts";
import {pathOf} from "./trieShape.ts";
import {updateTrie} from "./trieUpdate.ts";

/** The trie is written, and the caller may flush it, after this many accounts. Bounds the memory for a genesis of millions. */
const ACCOUNTS_PER_WRITE = 4096;
const LOGS_BLOOM_BYTES = 256;

/** Puts the allocation's trie nodes and codes, and returns block 0 with its header. */
export async function makeGenesisBlock(
  genesis: Genesis,
  nodes: TrieNodes,
): Promise<{head: BlockHead; difference: BlockDifference}> {
  const stateRoot = await writeAllocation(genesis.accounts, nodes);
  const head = decodeBlockHead(RLP.encode([headerFields(genesis, stateRoot), [], []]), "block 0");
  const accounts = new AccountDifferences();
  for (const {address, nonce, balance, code, storage} of genesis.accounts)
    accounts.add({address, change: {nonce, balance, storage, ...(code.length > 0 && {code})}});
  return {
    head,
    difference: {header: head, accounts, chain: {chainId: genesis.chainId, config: genesis.config}},
  };
}

async function writeAllocation(accounts: readonly GenesisAccount[], nodes: TrieNodes): Promise<Uint8Array> {
  const overlay = new TrieOverlay(nodes);
  let root: Uint8Array = KECCAK256_RLP;
  for (let first = 0; first < accounts.length; first += ACCOUNTS_PER_WRITE) {
    const writes = accounts.slice(first, first + ACCOUNTS_PER_WRITE).map(account => ({
      path: pathOf(account.address),
      value: encodeAccount(account, overlay, nodes),
    }));
    root = updateTrie(overlay, root, writes);
    overlay.persist();
    await nodes.settle?.();
  }
  return root;
}

function encodeAccount(
  {nonce, balance, code, storage}: GenesisAccount,
  overlay: TrieOverlay,
  nodes: TrieNodes,
): Uint8Array {
  const writes = storage.map(({slot, value}) => ({path: pathOf(slot), value: RLP.encode(unpadBytes(value))}));
  const storageRoot = updateTrie(overlay, KECCAK256_RLP, writes);
  const codeHash = code.length > 0 ? keccak256(code) : KECCAK256_NULL;
  if (code.length > 0) nodes.put(codeKey(codeHash), code);
  return new Account(nonce, balance, storageRoot, codeHash).serialize();
}

/** The fields that geth's Genesis.ToBlock sets. Newer fields exist from their fork on. */
function headerFields(genesis: Genesis, stateRoot: Uint8Array): (Uint8Array | bigint)[] {
  const moment = {number: 0, timestamp: genesis.timestamp};
  const nonce = Buffer.alloc(8);
  nonce.writeBigUInt64BE(genesis.nonce);
  const fields: (Uint8Array | bigint)[] = [
    genesis.parentHash,
    KECCAK256_RLP_ARRAY,
    genesis.coinbase,
    stateRoot,
    KECCAK256_RLP,
    KECCAK256_RLP,
    new Uint8Array(LOGS_BLOOM_BYTES),
    genesis.difficulty,
    0n,
    genesis.gasLimit,
    genesis.gasUsed,
    genesis.timestamp,
    genesis.extraData,
    genesis.mixHash,
    nonce,
  ];
  if (genesis.forks.isActive("london", moment)) fields.push(genesis.baseFeePerGas ?? INITIAL_BASE_FEE);
  if (genesis.forks.isActive("shanghai", moment)) fields.push(KECCAK256_RLP);
  if (genesis.forks.isActive("cancun", moment))
    fields.push(genesis.blobGasUsed, genesis.excessBlobGas, new Uint8Array(32));
  if (genesis.forks.isActive("prague", moment)) fields.push(SHA256_NULL);
  return fields;
}
