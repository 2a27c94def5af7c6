/** Where an import reads from, and what happens to a source that is followed. */
import type {HeadsEvent} from "../../sync/rpc/newHeads.ts";
import type {NodesEvent, NodesSettings} from "../../sync/rpc/nodes.ts";

/** Where an import reads from. Paths may be .gz; `-` is standard input (not for blocks and genesis). */
export type ImportSource =
  | {readonly kind: "blocks"; readonly genesisPath: string; readonly blocksPath: string}
  | {
      readonly kind: "diffs";
      readonly path: string;
      /** Wait for more lines at the end of a regular file, and for the next writer of a FIFO. */
      readonly follow: boolean;
    }
  /** Without a genesis file, block 0 is in the store already, or is the first trie log. */
  | {readonly kind: "trielogs"; readonly path: string; readonly genesisPath: string | undefined}
  | NodeSource;

/** How blocks come from a node, in the order in which they are preferred (import/follow/sourceChoice.ts). */
export const NODE_SOURCES = ["execute", "trace", "trielogs"] as const;
export type NodeSourceName = (typeof NODE_SOURCES)[number];

/** A layer-2 node. */
export interface NodeSource {
  readonly kind: "node";
  /** undefined: chosen by what the store and the node can do. */
  readonly source: NodeSourceName | undefined;
  readonly nodes: NodesSettings;
  /** For this long at the start, the first healthy node is followed even if another one is ahead. */
  readonly surveyAfterMs: number;
  /** ws and wss URLs, where the node announces its new heads. May be empty. */
  readonly subscriptions: readonly string[];
  /** geth's genesis file: an empty store begins with its block 0. */
  readonly genesisPath: string | undefined;
  /** Wait for more blocks at the node's head. */
  readonly follow: boolean;
  /** Accounts, and slots, that are compared with the node after a range of blocks that was not executed here. 0: none. */
  readonly audit: number;
  /** The last block to import, unless `follow`; undefined: the node's head at the start. */
  readonly to: number | undefined;
}

/**
 * Where a source that is followed stands.
 *
 *   reading     on the way to its end
 *   following   read to its end, lines or blocks are taken as they come
 *   waiting     there is no file, or no writer of the FIFO; no node answers
 */
export type SourceState = "reading" | "following" | "waiting";

/**
 * What happened to a source that is followed.
 *
 *   replaced      another file stands at its path: the old one was read to its end, the new one is read from its start
 *   truncated     the file became shorter: it is read again from its start
 *   writer_left   a FIFO's last writer has closed it: the import waits for the next one
 *   line_cut      a file or a FIFO's writer ended within a line, which is dropped
 *   reorganised   the node's chain has taken another way: the blocks above the common ancestor were removed
 */
export type SourceChange = "replaced" | "truncated" | "writer_left" | "line_cut" | "reorganised";

/** An event of a followed source. */
export type SourceEvent =
  | {
      readonly kind: "state";
      readonly state: SourceState;
      /** Why it waits, where that is known. */
      readonly reason?: string;
    }
  | {
      readonly kind: "change";
      readonly change: SourceChange;
      readonly line?: number;
      /** `reorganised`: the newest block before, and the common ancestor, which is the newest one now. */
      readonly latest?: number;
      readonly ancestor?: number;
    }
  /** How blocks are read from the nodes, and why so. */
  | {readonly kind: "chosen"; readonly source: NodeSourceName; readonly why: string}
  /** The method that reads blocks from this node, and why this one. */
  | {readonly kind: "method"; readonly name: string; readonly method: string; readonly why: string}
  /** Values that the blocks up to this one touched are those of the node. */
  | {readonly kind: "audited"; readonly block: number}
  | NodesEvent
  | HeadsEvent;
