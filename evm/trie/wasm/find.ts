/** Finding one path in a trie, without decoding its nodes into anything. */
import {nibble, PATH, PATH_NIBBLES, ROOT} from "./layout";
import {refuseLast, resolve} from "./nodes";
import {
  contentOf,
  endOf,
  isBranch,
  isEmpty,
  isEmptyRoot,
  isHash,
  isLeafPath,
  pathNibbles,
  pathStart,
} from "./rlp";

let value: usize = 0;

/** Finds PATH in the trie of ROOT. @returns the address of its value, until the next call; 0: the trie does not have it */
export function find(): usize {
  value = 0;
  if (isEmptyRoot(ROOT)) return 0;
  let node = resolve(ROOT);
  let depth = 0;
  while (true) {
    let reference = contentOf(node);
    if (isBranch(node)) {
      if (depth >= PATH_NIBBLES) refuseLast();
      for (let child = nibble(PATH, depth++); child > 0; child--) reference = endOf(reference);
    } else {
      const path = reference;
      const end = depth + pathNibbles(path);
      if (isLeafPath(path) ? end != PATH_NIBBLES : end >= PATH_NIBBLES) refuseLast();
      const own = contentOf(path);
      for (let position = pathStart(path); depth < end; depth++, position++)
        if (nibble(own, position) !== nibble(PATH, depth)) return 0;
      reference = endOf(path);
      if (isLeafPath(path)) {
        value = reference;
        return contentOf(reference);
      }
    }
    if (isEmpty(reference)) return 0;
    node = isHash(reference) ? resolve(reference + 1) : reference;
  }
}

/** The length of the value that was found. */
export function foundBytes(): u32 {
  return endOf(value) - contentOf(value);
}
