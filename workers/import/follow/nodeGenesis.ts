/**
 * Block 0 of a node's chain, with the accounts of the genesis file.
 *
 * The node's header may be another one if it has the same state root: chains have header fields of their own. anvil
 * does not put the accounts into its state root. Then block 1, whose header has the root of the whole state, must
 * execute on the genesis file's accounts before anything is stored.
 */

import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import type {BlockHead} from "../../../evm/execution/blockHead.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {readLinkedBlocks} from "../../../nodes/blocks/linkedBlocks.ts";
import {GENESIS_ORIGIN, type SourceBlock, SourceError} from "../../../nodes/blocks/sourceStep.ts";
import {readNamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {readGenesisHead} from "../chainBlocks.ts";
import type {ExecuteReader} from "./executeReader.ts";
import {type NodeChain, waitForHead} from "./nodeBlocks.ts";

/** @throws SourceError naming both hashes if the node's chain does not begin with the accounts of the genesis file */
export async function readNodeGenesis(
  genesis: Genesis,
  chain: NodeChain,
  {rawBlocks, execution}: ExecuteReader,
): Promise<SourceBlock> {
  const {hash: own, stateRoot} = await readGenesisHead(genesis);
  const {nodes, host} = chain;
  const {hash: theirs} = await nodes.use(
    node => readNamedBlock(node, 0, `${node.name}: it has no block 0`),
    host.signal,
  );
  let head: BlockHead | undefined;
  while (head === undefined && Buffer.compare(own, theirs) !== 0) {
    const [first] = await nodes.use(
      node => readLinkedBlocks(node, 0, 0, false, (_block, header) => ({header})),
      host.signal,
    );
    if (isSame(first?.header.stateRoot, stateRoot)) {
      head = first?.header;
      break;
    }
    const [zero, one] = await nodes.use(node => rawBlocks.read(node, 0, 1), host.signal);
    if (zero !== undefined && one !== undefined) {
      await tryOut(genesis, zero.head, one.bytes, own);
      head = zero.head;
    } else await waitForHead(chain);
  }
  const {id, difference} = await execution.start(genesis, head);
  return {...GENESIS_ORIGIN, ...id, chainId: genesis.chainId, difference: async () => difference};
}

async function tryOut(genesis: Genesis, zero: BlockHead, one: Uint8Array, own: Uint8Array): Promise<void> {
  const options = {forks: genesis.forks, store: new MemoryTries(), blockHash: () => undefined};
  const {executor} = await BlockExecutor.start(options, genesis, zero);
  try {
    await executor.execute(one);
  } catch (error) {
    throw new SourceError(
      `the node's block 0 is ${toHex(zero.hash)}, the genesis file's is ${toHex(own)}, and the node's block 1 does not ` +
        `execute on the genesis file's accounts: ${(error as Error).message}`,
      {cause: error},
    );
  }
}
