/** What the module asks of trieModule.ts. */

/** Writes the RLP of a stored node, MAX_NODE_BYTES at most. @returns its length. Throws if there is no such node, or it is longer */
export declare function load(hash: usize, to: usize): u32;
/** Stores the pending nodes. */
export declare function overflow(): void;
/** Throws an error that names the node. */
export declare function refuse(hash: usize): void;
