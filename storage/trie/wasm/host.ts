/** Functions that trieModule.ts provides. */

/** @returns the length of the page's body. Throws if there is none, or it is longer than MAX_PAGE_BYTES */
export declare function load(page: f64, to: usize): u32;
/** Stores a page. @param before - the one that it replaces; 0: none. @returns its number */
export declare function put(from: usize, bytes: usize, before: f64): f64;
/** Throws an error that names the page. */
export declare function refuse(page: f64): void;
/** Sets the value of the write at `position`, made of the current one. @param bytes - of that; 0: there is none */
export declare function make(position: usize, value: usize, bytes: u32): void;
