/** Chooses how a node's blocks are read: as asked for, or else by the first of NODE_SOURCES that suits the store and the node. */

import {describeMissingTrie} from "../../../evm/execution/executionError.ts";
import {probeTraces} from "../../../nodes/blocks/trace/traceMethod.ts";
import {probeTrieLogs} from "../../../nodes/blocks/trielogs/trieLogReader.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import type {TrieRoot} from "../../../storage/block/trieRoot.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {NODE_SOURCES, type NodeSourceName} from "../../messages/importSource.ts";
import {SourceError} from "../sourceStep.ts";

interface Choice {
  readonly source: NodeSourceName;
  readonly why: string;
}

interface Situation {
  readonly asked: NodeSourceName | undefined;
  readonly writer: BlockWriter;
  readonly hasGenesis: boolean;
  /** The state trie of the newest block held, if the store holds it. Execution goes on from there. */
  readonly trie: TrieRoot | undefined;
  readonly ask: <T>(work: (node: Node) => Promise<T>) => Promise<T>;
}

type Judgement = {readonly suits: true; readonly why: string} | {readonly suits: false; readonly why: string};

/** By source: may it be used, and why. */
const JUDGES: Readonly<Record<NodeSourceName, (situation: Situation) => Promise<Judgement>>> = {
  execute: async ({asked, writer: {latest}, hasGenesis, trie}) => {
    if (trie?.isExecuted === true) return {suits: true, why: "the blocks of the store were executed here"};
    if (latest !== undefined && trie === undefined) return {suits: false, why: describeMissingTrie(latest)};
    if (latest !== undefined)
      return {suits: asked === "execute", why: "the newest blocks of the store were not executed here"};
    return hasGenesis
      ? {suits: true, why: "the store is empty and --genesis is given"}
      : {suits: false, why: "the store is empty and --genesis is not given"};
  },
  trace: async ({writer, hasGenesis, ask}) => {
    if (writer.latest === undefined && !hasGenesis)
      return {suits: false, why: "the store is empty and --genesis is not given"};
    const method = await ask(probeTraces);
    return typeof method === "string"
      ? {suits: true, why: `the node traces blocks (${method})`}
      : {suits: false, why: method.why};
  },
  trielogs: async ({ask}) =>
    (await ask(probeTrieLogs))
      ? {suits: true, why: "the node answers shomei_getTrieLogsByRange"}
      : {suits: false, why: "the node does not answer shomei_getTrieLogsByRange"},
};

/** @throws SourceError that says why each source cannot be used */
export async function chooseSource(situation: Situation): Promise<Choice> {
  const {asked} = situation;
  const candidates = asked === undefined ? NODE_SOURCES : [asked];
  const reasons: string[] = [];
  for (const source of candidates) {
    const {suits, why} = await JUDGES[source](situation);
    if (suits) return {source, why: asked === undefined ? why : `--source ${asked}`};
    reasons.push(`${source}: ${why}`);
  }
  throw new SourceError(`blocks of the node cannot be read: ${reasons.join("; ")}`);
}
