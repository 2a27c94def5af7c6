/**
 * The thread that makes the messages of blocks for a feed. It reads what a block changed from the trees (storage/block/heldDifference.ts), so
 * a feed goes on after any crash, and two services with the same chain send the same changes.
 */

import {encodeDifference} from "../../nodes/feed/differenceBytes.ts";
import {FeedError} from "../../nodes/feed/feedError.ts";
import {type BlockHead, encodeBlock} from "../../nodes/feed/feedMessage.ts";
import {readHeldDifference} from "../../storage/block/heldDifference.ts";
import {failureOf} from "../messages/failure.ts";
import type {FeedAnswer, FeedJob} from "../messages/feedJob.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {openWorkerStore} from "../threads/workerStore.ts";

const NO_HASH = new Uint8Array(32);

yieldToOtherThreads(Niceness.FEED);
const {reader} = await openWorkerStore();

export default function encodeHeld({chain, block}: FeedJob): FeedAnswer {
  try {
    const difference = readHeldDifference(reader, block);
    const {header, expectedStateRoot = NO_HASH} = difference;
    const {hash} = header;
    const parentHash =
      block === 0 ? NO_HASH : (header.parentHash ?? reader.blockOrThrow(block - 1).header.hash);
    const isVerified = block < reader.readUnverified();
    const head: BlockHead = {number: block, hash, parentHash, stateRoot: expectedStateRoot, isVerified};
    return {head, bodies: encodeBlock(chain, head, encodeDifference(difference))};
  } catch (error) {
    if (error instanceof FeedError) return {refusal: error.message};
    return {failure: failureOf(error)};
  }
}
