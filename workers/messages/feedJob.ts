/** Making a block's messages for a feed (nodes/feed): the job, and what comes back. */
import type {BlockHead, FeedChain} from "../../nodes/feed/feedMessage.ts";
import type {Failure} from "./failure.ts";

export interface FeedJob {
  readonly chain: FeedChain;
  readonly block: number;
}

export type FeedAnswer =
  | {readonly head: BlockHead; readonly bodies: readonly Uint8Array[]}
  /** The block cannot be sent, for a reason that stays. */
  | {readonly refusal: string}
  | {readonly failure: Failure};
