/** Chooses how a node's blocks are read: as asked for, or else by the first of NODE_SOURCES that suits the store and the node. */

import {describeMissingTrie} from "../../../evm/execution/executionError.ts";
import {SettingsFault, SourceError} from "../../../nodes/blocks/sourceStep.ts";
import {probeTraces} from "../../../nodes/blocks/trace/traceMethod.ts";
import {probeTrieLogs} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import type {BlockTrie} from "../../../storage/block/blockTrie.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {NODE_SOURCES, type NodeSourceName} from "../../messages/importSource.ts";

interface Situation {
  readonly asked: NodeSourceName | undefined;
  readonly writer: BlockWriter;
  readonly hasGenesis: boolean;
  /** The state trie of the newest block held, if the store holds it. Execution goes on from there. */
  readonly trie: BlockTrie | undefined;
  readonly ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>;
}

interface Judgement {
  readonly suits: boolean;
  readonly why: string;
}

const EMPTY_WITHOUT_GENESIS: Judgement = {
  suits: false,
  why: "the store is empty and --genesis is not given",
};

/** @throws SourceError, a SettingsFault where no genesis is known, that says why each source cannot be used */
export async function chooseSource(situation: Situation): Promise<{source: NodeSourceName; why: string}> {
  const {asked} = situation;
  const reasons: string[] = [];
  for (const source of asked === undefined ? NODE_SOURCES : [asked]) {
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
  {asked, writer: {latest}, hasGenesis, trie, ask}: Situation,
): Promise<Judgement> {
  if (source === "trielogs") {
    const suits = await ask(probeTrieLogs);
    return {suits, why: `the node ${suits ? "answers" : "does not answer"} shomei_getTrieLogsByRange`};
  }
  if (latest === undefined && !hasGenesis) return EMPTY_WITHOUT_GENESIS;
  if (source === "trace") {
    const method = await ask(probeTraces);
    if (typeof method !== "string") return {suits: false, why: method.why};
    return {suits: true, why: `the node traces blocks (${method})`};
  }
  if (latest === undefined) return {suits: true, why: "the store is empty and --genesis is given"};
  if (trie === undefined) return {suits: false, why: describeMissingTrie(latest)};
  if (trie.isExecuted) return {suits: true, why: "the blocks of the store were executed here"};
  return {suits: asked === "execute", why: "the newest blocks of the store were not executed here"};
}
