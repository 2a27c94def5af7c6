/** Chooses how blocks are read: as requested, or else by the first of WHOLE_SOURCES that suits store and node. */

import {describeMissingTrie} from "../../../evm/execution/executionError.ts";
import {SettingsFault, SourceError} from "../../../nodes/blocks/sourceStep.ts";
import {probeTraces} from "../../../nodes/blocks/trace/traceMethod.ts";
import {probeTrieLogs} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {type NodeSourceName, WHOLE_SOURCES} from "../../messages/importSource.ts";

interface Situation {
  readonly asked: NodeSourceName | undefined;
  readonly writer: BlockWriter;
  readonly hasGenesis: boolean;
  /** Why blocks of this chain cannot be executed, if that is known. */
  readonly cannotExecute: string | undefined;
  readonly ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>;
}

/** @throws SourceError with the reason against each source, for an empty store without genesis file a SettingsFault */
export async function chooseSource(situation: Situation): Promise<{source: NodeSourceName; why: string}> {
  const {asked} = situation;
  const reasons: string[] = [];
  for (const source of asked === undefined ? WHOLE_SOURCES : [asked]) {
    const {suits, why} = await judge(source, situation);
    if (suits) return {source, why: asked === undefined ? why : `--source ${asked}`};
    reasons.push(`${source}: ${why}`);
  }
  const isEmpty = situation.writer.latest === undefined && !situation.hasGenesis;
  const Kind = isEmpty ? SettingsFault : SourceError;
  throw new Kind(`blocks of the node cannot be read: ${reasons.join("; ")}`);
}

async function judge(
  source: NodeSourceName,
  {asked, writer: {latest, trie}, hasGenesis, cannotExecute, ask}: Situation,
): Promise<{readonly suits: boolean; readonly why: string}> {
  if (source === "trielogs") {
    const suits = await ask(probeTrieLogs);
    return {suits, why: `the node ${suits ? "answers" : "does not answer"} shomei_getTrieLogsByRange`};
  }
  if (latest === undefined && !hasGenesis)
    return {suits: false, why: "the store is empty and --genesis is not given"};
  if (source === "trace") {
    const method = await ask(probeTraces);
    if (typeof method !== "string") return {suits: false, why: method.why};
    const reason = cannotExecute === undefined ? "" : `; ${cannotExecute}`;
    return {suits: true, why: `the node traces blocks (${method})${reason}`};
  }
  if (cannotExecute !== undefined) return {suits: false, why: cannotExecute};
  if (latest === undefined) return {suits: true, why: "the store is empty and --genesis is given"};
  if (trie === undefined) return {suits: false, why: describeMissingTrie(latest)};
  if (trie.isExecuted) return {suits: true, why: "the blocks of the store were executed here"};
  return {suits: asked === "execute", why: "the newest blocks of the store were not executed here"};
}
