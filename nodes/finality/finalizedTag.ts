/** The finalized tag of layer-2 nodes. With several nodes, two must agree; a single one is trusted. */
import {findNamedBlock, type NamedBlock} from "../rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../rpc/node.ts";
import type {Nodes} from "../rpc/nodes.ts";

const HINT = "geth names one once its consensus client has";
/** How many of several nodes must call a block finalized. */
const WITNESSES = 2;

/**
 * Asks all nodes for their finalized block, and for the block up to `highest` that can be compared with the store.
 *
 * @returns the newest block that enough nodes call finalized; that number, or `highest` if it is lower; and the hash of
 *   that block on each node that has it, 32 bytes
 * @throws NodeRefusal if no node has a finalized block and one does not support the tag
 */
export async function readFinalizedTag(nodes: Pick<Nodes, "useEach">, highest: number, signal: AbortSignal) {
  const tagged = await nodes.useEach(askForTag, signal);
  const answers = tagged.results.filter(one => "block" in one);
  const refusals = tagged.results.flatMap(one => ("refusal" in one ? [one.refusal] : []));
  if (answers.length === 0 && refusals[0] !== undefined) throw refusals[0];
  const count = tagged.results.length + tagged.silent.length;
  const needed = Math.min(count, WITNESSES);
  const tags = answers.map(({block}) => block.number).sort((one, other) => other - one);
  const tag = tags[needed - 1];
  const why = [...tagged.silent, ...refusals.map(({message}) => message)].join("; ");
  const awaits = `waiting until ${needed} of ${count} layer-2 nodes call a block finalized${why && `: ${why}`}`;
  if (tag === undefined) return {awaits};
  const number = Math.min(tag, highest);
  const known = new Map(answers.map(({name, block}) => [name, block]));
  const find = async (node: Node) => {
    const own = known.get(node.name);
    return {node: node.name, block: own?.number === number ? own : await findNamedBlock(node, number)};
  };
  const {results} = await nodes.useEach(find, signal);
  const hashes = results.flatMap(({node, block}) => (block === undefined ? [] : [{node, hash: block.hash}]));
  const witnesses = hashes.filter(({node}) => (known.get(node)?.number ?? -1) >= number);
  return witnesses.length < needed ? {awaits} : {tag, number, hashes};
}

async function askForTag(node: Node): Promise<{name: string; block: NamedBlock} | {refusal: NodeRefusal}> {
  const block = await orRefusal(readFinalized(node, HINT, error => error.isCallError));
  return block instanceof NodeRefusal ? {refusal: block} : {name: node.name, block};
}

/**
 * geth refuses the tag until its consensus client has set it, and after a restart that moved the head below it.
 *
 * @param isFinal - whether neither a retry nor another node would help
 * @throws NodeFailure if the node has no finalized block, which another may have; NodeRefusal, with `hint`
 */
export async function readFinalized(
  node: Node,
  hint: string,
  isFinal = (_refusal: NodeRefusal): boolean => false,
): Promise<NamedBlock> {
  const block = await orRefusal(findNamedBlock(node, "finalized"));
  if (block === undefined) throw new NodeFailure(`it names no finalized block; ${hint}`);
  if (!(block instanceof NodeRefusal)) return block;
  if (isFinal(block)) throw block;
  throw new NodeFailure(`it names no finalized block: ${block.message}; ${hint}`, {cause: block});
}
