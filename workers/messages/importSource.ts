/** Where an import reads from, and what happens to a source that is followed. */

import type {NatsSettings} from "../../nodes/feed/natsConnection.ts";
import type {HeadsEvent} from "../../nodes/rpc/newHeads.ts";
import type {NodesEvent, NodesSettings} from "../../nodes/rpc/nodes.ts";
import type {SlicedAddress} from "../../storage/block/sliceBlock.ts";

/** Where an import reads from. Paths may be .gz; `-` is standard input (not for blocks and genesis). */
export type ImportSource =
  | {readonly kind: "blocks"; readonly genesisPath: string; readonly blocksPath: string}
  | {readonly kind: "diffs"; readonly path: string}
  /** Without a genesis file, block 0 is in the store already, or is the first trie log. */
  | {readonly kind: "trielogs"; readonly path: string; readonly genesisPath: string | undefined}
  | PullSource
  | StateSource
  | NodeSource
  | FeedSource;

/** A stream that another proofd publishes (docs/feed.md). */
export interface FeedSource {
  readonly kind: "feed";
  readonly nats: NatsSettings;
  readonly stream: string;
  /** The name that the servers show for this client. */
  readonly client: string;
}

/** The folder of a pull of everything (client/folder), which begins a store. */
export interface PullSource {
  readonly kind: "pull";
  readonly path: string;
  /** Its forks and chain id are taken instead of those in the folder. */
  readonly genesisPath: string | undefined;
}

/** The state of a block as `geth snapshot dump` writes it, which begins a store without sparse trees. */
export interface StateSource {
  readonly kind: "state";
  readonly path: string;
  /** The block's header, and perhaps those before it. */
  readonly headerPath: string;
  /** Names chain id and forks. */
  readonly genesisPath: string | undefined;
}

/** How blocks come from a node, in the order in which they are preferred (import/follow/sourceChoice.ts). */
export const WHOLE_SOURCES = ["execute", "trace", "trielogs"] as const;
/** `slice`: of a store of slices, which has no other source. */
export const NODE_SOURCES = [...WHOLE_SOURCES, "slice"] as const;
export type NodeSourceName = (typeof NODE_SOURCES)[number];

export interface NodeSource {
  readonly kind: "node";
  /** undefined: chosen by what the store and the node can do. */
  readonly source: (typeof WHOLE_SOURCES)[number] | undefined;
  /** Contracts of which a store of slices is made. undefined: those that the store has, or the whole chain. */
  readonly contracts?: readonly SlicedAddress[] | undefined;
  /** Of a store of slices: nodes that have the states of blocks that `nodes` have lost. */
  readonly archive?: NodesSettings | undefined;
  /** The block that a store of slices begins with. undefined: the node's newest one. */
  readonly sliceFrom?: number | undefined;
  readonly nodes: NodesSettings;
  /** For this long at the start, the first healthy node is followed even if another one is ahead. */
  readonly surveyAfterMs: number;
  /** ws and wss URLs, where the node announces its new heads. May be empty. */
  readonly subscriptions: readonly string[];
  /** geth's genesis file: an empty store begins with its block 0. */
  readonly genesisPath: string | undefined;
  readonly follow: boolean;
  /** The last block to import, unless `follow`; undefined: the node's head at the start. */
  readonly to: number | undefined;
}

/**
 * Where nodes that are followed stand.
 *
 *   reading     on the way to the node's head
 *   following   at its head, blocks are taken as they come
 *   waiting     no node answers, or the node has fewer blocks than the store
 */
export type SourceState = "reading" | "following" | "waiting";

export type SourceEvent =
  | {
      readonly kind: "state";
      readonly state: SourceState;
      /** Why it waits, where that is known. */
      readonly reason?: string | undefined;
    }
  /** The node's chain was reorganised: the blocks above the ancestor are removed. `latest`: the newest before. */
  | {
      readonly kind: "reorganised";
      readonly latest: number;
      readonly ancestor: number;
      /** A store of slices has no such ancestor: it begins again. */
      readonly beginsAgain: boolean;
    }
  /** How blocks are read from the nodes, and why so. */
  | {readonly kind: "chosen"; readonly source: NodeSourceName; readonly why: string}
  /** The method that reads blocks from this node, and why this one. */
  | {readonly kind: "method"; readonly name: string; readonly method: string; readonly why: string}
  /** Why it and later blocks are unverified: no trusted root commits to their state. undefined: one does again. */
  | {readonly kind: "verification"; readonly block: number; readonly unverified: string | undefined}
  /** Of these accounts (`0x` text), only the source's word shows that the block removed and recreated them. */
  | {readonly kind: "resets"; readonly block: number; readonly accounts: readonly string[]}
  /** More slots of these contracts (`0x` text) changed in the block than its trace names: some may not be provable. */
  | {readonly kind: "incomplete"; readonly block: number; readonly contracts: readonly string[]}
  /** A store of slices has only the headers of these blocks: the node no longer had their states. */
  | {readonly kind: "missed"; readonly from: number; readonly to: number}
  /** The thread that recovers senders ahead of their blocks has ended, for this reason. */
  | {readonly kind: "senders"; readonly reason: string}
  | NodesEvent
  | HeadsEvent;
