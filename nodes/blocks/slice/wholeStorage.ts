/** All slots of a contract: debug_storageRangeAt. */
import type {WholeSlot} from "../../../storage/block/sliceBlock.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import {optional, parseFixedBytes, parseObject, parseWord} from "../../rpc/answerValues.ts";
import {findNamedBlock} from "../../rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../../rpc/node.ts";

const SLOTS_PER_CALL = 4096;
const WAIT_MS = 50;
/** Longer than most chains take for a block. Then the log says why, and it is tried again. */
const MOST_WAITS = 15_000 / WAIT_MS;
/** 100 bytes of memory each. */
const MOST_SLOTS = 4_000_000;

/**
 * After a block, in the order of their paths. geth gives the state before a transaction, so it is asked for that before
 * the first one of the next block, which is waited for.
 */
export async function readWholeStorage(
  node: Node,
  address: string,
  {number, hash}: {readonly number: number; readonly hash: Uint8Array},
): Promise<WholeSlot[]> {
  const slots: WholeSlot[] = [];
  let next = await findNamedBlock(node, number + 1);
  for (let waits = 0; next === undefined; next = await findNamedBlock(node, number + 1)) {
    if (waits++ === MOST_WAITS)
      throw new NodeFailure(
        `all slots of ${address} after block ${number} can be read once there is block ${number + 1}, which the node does not have yet`,
      );
    await new Promise(resolve => setTimeout(resolve, WAIT_MS));
  }
  if (!isSame(next.parentHash, hash))
    throw new NodeFailure(`block ${number} was replaced while the slots of ${address} were read`);
  for (let start: string | undefined = `0x${"0".repeat(64)}`; start !== undefined; ) {
    const params = [toHex(next.hash), 0, address, start, SLOTS_PER_CALL];
    const where = `debug_storageRangeAt of ${address}`;
    const answer = await orRefusal(node.request("debug_storageRangeAt", params));
    if (answer instanceof NodeRefusal)
      throw new NodeFailure(
        `${where}: ${answer.message}. With its default state scheme, geth gives all slots only after a block that the next ` +
          "one does not change: leave out :whole for a contract that every block writes",
      );
    const {storage, nextKey} = parseObject(answer, where);
    // geth has null for a contract without slots.
    for (const [key, slot] of Object.entries(parseObject(storage ?? {}, `${where}: storage`))) {
      const path = parseFixedBytes(key, `${where}: a key`, 32);
      const last = slots.at(-1)?.path;
      // So a node cannot send the same slots for ever.
      if (last !== undefined && Buffer.compare(path, last) <= 0)
        throw new NodeFailure(`${where}: expected keys in ascending order, got ${key} after ${toHex(last)}`);
      if (slots.length === MOST_SLOTS)
        throw new NodeFailure(
          `${where}: expected at most ${MOST_SLOTS} slots; leave out :whole for this contract`,
        );
      slots.push({path, value: parseFixedBytes(parseWord(parseObject(slot, key).value, where), where, 32)});
    }
    const after: string | undefined = optional(nextKey, value => parseWord(value, `${where}: nextKey`));
    if (after !== undefined && after <= start)
      throw new NodeFailure(`${where}: expected nextKey to rise, got ${after} after ${start}`);
    start = after;
  }
  return slots;
}
