/** Where an import reads from, and what happens to a source that is followed. */

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
  | {readonly kind: "trielogs"; readonly path: string; readonly genesisPath: string | undefined};

/**
 * Where a source that is followed stands.
 *
 *   reading     on the way to its end
 *   following   read to its end, lines are taken as they come
 *   waiting     there is no file, or no writer of the FIFO
 */
export type SourceState = "reading" | "following" | "waiting";

/**
 * What happened to a source that is followed.
 *
 *   replaced      another file stands at its path: the old one was read to its end, the new one is read from its start
 *   truncated     the file became shorter: it is read again from its start
 *   writer_left   a FIFO's last writer has closed it: the import waits for the next one
 *   line_cut      a file or a FIFO's writer ended within a line, which is dropped
 */
export type SourceChange = "replaced" | "truncated" | "writer_left" | "line_cut";

/** An event of a followed source. */
export type SourceEvent =
  | {readonly kind: "state"; readonly state: SourceState}
  | {readonly kind: "change"; readonly change: SourceChange; readonly line?: number};
