/** The built-in demo chain: genesis.json and chain.rlp in demo/. */
import {fileURLToPath} from "node:url";
import type {Engine} from "../../workers/engine.ts";
import type {ImportEvent} from "../../workers/messages/importJob.ts";
import {WorkError} from "./workError.ts";

const GENESIS = new URL(import.meta.resolve("#package/demo/genesis.json"));
const CHAIN = new URL(import.meta.resolve("#package/demo/chain.rlp"));

/**
 * Imports the demo chain and marks all its blocks as finalized. Blocks that are already in the store are only compared,
 * so an import that was stopped continues where it ended.
 *
 * @param stopping - when it resolves, the import ends after the current block
 * @param chainId - refuses the demo if its chain has another id
 * @throws WorkError if the store holds another chain, or the import fails
 */
export async function importDemo(
  engine: Engine,
  chainId: bigint | undefined,
  stopping: Promise<unknown> | undefined,
  onEvent: (event: ImportEvent) => void,
): Promise<void> {
  const source = {
    kind: "blocks",
    genesisPath: fileURLToPath(GENESIS),
    blocksPath: fileURLToPath(CHAIN),
  } as const;
  const running = engine.startImport({source, finalized: "last", allowUnverified: false, chainId}, onEvent);
  void stopping?.then(() => running.stop());
  const outcome = await running.outcome;
  if (!outcome.ok) throw new WorkError(`--demo: ${outcome.message}`);
}
