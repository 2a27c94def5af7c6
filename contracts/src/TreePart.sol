// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {HashSuite} from "./HashSuite.sol";
import {Account} from "./IProofVerifier.sol";
import {ProofCursor, ProofReader} from "./ProofCursor.sol";

/// An account and the slots that are asked for, and what the proof says about them.
struct Entry {
    /// Calldata offset of the slots, 32 bytes each.
    uint256 slotsAt;
    uint256 slotCount;
    Account account;
    /// Of the slots. Empty until they are read: the account may be absent, or without storage.
    bytes32[] values;
    /// z(0) .. z(39).
    bytes zero;
}

/// What a tree part proves and by which leaves: docs/proofs.md, section 9.2.
struct TreePart {
    Entry entry;
    /// The tree is the account's storage tree, not the account tree.
    bool isStorage;
    uint256 nextFreeNode;
    uint256 keyCount;
    uint256 leafCount;
    /// Memory offsets of `keyCount` keys and `leafCount` leaves: see TreePartReader.
    uint256 keysAt;
    uint256 leavesAt;
    /// Calldata offset of the leaf indexes.
    uint256 indexesAt;
    /// Nodes that wait: docs/proofs.md, section 9.4. Memory offset of a word with the height, and a word with the node, for each.
    uint256 stackAt;
    uint256 stackSize;
    /// Of the node on top; NO_HEIGHT if the stack is empty.
    uint256 topHeight;
}

/// Reads tree parts and folds them to their roots. It makes checks 2 to 11, 13 to 16 and 18 of docs/proofs.md, section 10, and leaves to
/// the caller what a leaf's value is and what the root must be.
abstract contract TreePartReader is HashSuite {
    uint256 private constant DEPTH = 40;
    uint256 private constant U40 = 0xffffffffff;

    // Keys and leaves are words in memory, one record after the other. A Solidity function that returns a struct allocates one each time.
    //
    //   key    hKey | proof                  proof: the numbers of its leaves, PRESENT | leaf or left << 16 | right
    //   leaf   role | links | hKey | value   role: NEIGHBOUR, OWN | number of the key, or both; zero if no key names it
    //                                        links: prev << 80 | next << 40 | leaf index
    //                                        value: of a slot, where the leaf is the slot's own
    //   node   height | hash                 that waits on the stack
    uint256 private constant KEY_BYTES = 0x40;
    uint256 internal constant KEY_PROOF = 0x20;
    uint256 private constant LEAF_BYTES = 0x80;
    uint256 private constant LEAF_LINKS = 0x20;
    uint256 private constant LEAF_KEY = 0x40;
    uint256 internal constant LEAF_VALUE = 0x60;
    uint256 private constant NODE_BYTES = 0x40;
    uint256 private constant NODE_HASH = 0x20;

    uint256 internal constant PRESENT = 1 << 32;
    uint256 private constant OWN = 1 << 16;
    uint256 private constant NEIGHBOUR = 1 << 17;
    uint256 private constant KEY_NUMBER = 0xffff;
    uint256 private constant ABSENT_BIT = 0x8000;
    /// Above the height of any node on the stack.
    uint256 internal constant NO_HEIGHT = 255;
    /// Folds a node upwards over heights at which no node waits.
    /// @param zero z(0) .. z(39)
    /// @param node at height `from`, on the path of leaf `index`
    /// @param bitmap of all heights: a sibling is read where its bit is set
    /// @return the path's node at height `to`
    function _foldRun(
        ProofCursor memory cursor,
        bytes memory zero,
        bytes32 node,
        uint256 index,
        uint256 bitmap,
        uint256 from,
        uint256 to
    ) internal view virtual returns (bytes32);

    /// Reads an own leaf's value, and keeps it. @return hVal its hash
    function _readValue(ProofCursor memory cursor, TreePart memory part, uint256 leaf)
        internal
        view
        virtual
        returns (bytes32 hVal);

    /// Reads what stands before the records.
    function _readHead(ProofCursor memory cursor, TreePart memory part) internal pure {
        unchecked {
            uint256 head = cursor.readUint(7);
            uint256 count = head & 0xffff;
            uint256 nextFreeNode = head >> 16;
            if (count == 0 || count > 2 * part.keyCount) revert LeafCountOutOfRange(count);
            // A storage tree with head and tail alone is not sent.
            if (nextFreeNode < (part.isStorage ? 3 : 2)) revert NextFreeNodeTooSmall(nextFreeNode);
            part.nextFreeNode = nextFreeNode;
            part.leafCount = count;
            part.leavesAt = _allocate(count * LEAF_BYTES);
            // As many as wait at most.
            part.stackAt = _allocate((count - 1 < DEPTH ? count - 1 : DEPTH) * NODE_BYTES);
            _readKeyTable(cursor, part);
            part.indexesAt = cursor.skip(5 * count);
        }
    }

    function _readKeyTable(ProofCursor memory cursor, TreePart memory part) private pure {
        unchecked {
            for (uint256 i = 0; i < part.keyCount; ++i) {
                uint256 key = _keyAt(part, i);
                uint256 number = cursor.readUint(2);
                if (number < ABSENT_BIT) {
                    uint256 leaf = _leafAt(part, number);
                    uint256 role = _load(leaf);
                    if (role & OWN == 0) _store(leaf, role | OWN | i);
                    else if (_load(_keyAt(part, role & KEY_NUMBER)) != _load(key)) revert LeafOfTwoKeys(number);
                    _store(key + KEY_PROOF, PRESENT | number);
                } else {
                    number ^= ABSENT_BIT;
                    uint256 right = cursor.readUint(2);
                    uint256 leaf = _leafAt(part, number);
                    _store(leaf, _load(leaf) | NEIGHBOUR);
                    leaf = _leafAt(part, right);
                    _store(leaf, _load(leaf) | NEIGHBOUR);
                    _store(key + KEY_PROOF, number << 16 | right);
                }
            }
            for (uint256 i = 0; i < part.leafCount; ++i) if (_load(_leafAt(part, i)) == 0) revert LeafWithoutKey(i);
        }
    }

    /// @param i below `keyCount`
    function _keyAt(TreePart memory part, uint256 i) internal pure returns (uint256) {
        unchecked {
            return part.keysAt + KEY_BYTES * i;
        }
    }

    function _leafAt(TreePart memory part, uint256 i) internal pure returns (uint256) {
        unchecked {
            if (i >= part.leafCount) revert NoSuchLeaf(i);
            return part.leavesAt + LEAF_BYTES * i;
        }
    }

    function _load(uint256 place) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(place)
        }
    }

    function _store(uint256 place, uint256 word) internal pure {
        assembly ("memory-safe") {
            mstore(place, word)
        }
    }

    function _allocateKeys(uint256 count) internal pure returns (uint256) {
        return _allocate(count * KEY_BYTES);
    }

    /// @return start of so many zero bytes of memory, whole words
    function _allocate(uint256 length) private pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := mload(0x40)
            mstore(0x40, add(start, length))
            // Copying from beyond the calldata writes zeros.
            calldatacopy(start, calldatasize(), length)
        }
    }

    /// Reads the records. @return root that the part folds to
    function _foldPart(ProofCursor memory cursor, TreePart memory part) internal view returns (bytes32 root) {
        unchecked {
            uint256 count = part.leafCount;
            uint256 indexAt = part.indexesAt;
            uint256 index = ProofReader.uintAt(indexAt, 5);
            for (uint256 number = 0; number < count; ++number) {
                if (index >= part.nextFreeNode) revert PositionNotInTree(index);
                // The height at which the path ends: just below where it meets the next one.
                uint256 end = DEPTH;
                uint256 nextIndex = 0;
                if (number + 1 < count) {
                    indexAt += 5;
                    nextIndex = ProofReader.uintAt(indexAt, 5);
                    if (nextIndex <= index) revert LeafIndexesNotAscending(nextIndex);
                    end = _highestBit(index ^ nextIndex);
                }
                root = _foldRecord(cursor, part, _leafAt(part, number), index, end);
                index = nextIndex;
            }
            root = _hashRoot(part.nextFreeNode, root);
            _checkAbsences(part);
        }
    }

    /// Reads one record, and folds its leaf to height `end`. @return node there
    function _foldRecord(
        ProofCursor memory cursor,
        TreePart memory part,
        uint256 leaf,
        uint256 index,
        uint256 end
    ) private view returns (bytes32 node) {
        unchecked {
            uint256 fields = cursor.readUint(15);
            uint256 bitmap = fields & U40;
            uint256 nextFreeNode = part.nextFreeNode;
            uint256 prev = fields >> 80;
            uint256 next = fields >> 40 & U40;
            if (prev >= nextFreeNode) revert PositionNotInTree(prev);
            if (next >= nextFreeNode) revert PositionNotInTree(next);
            _store(leaf + LEAF_LINKS, fields >> 40 << 40 | index);
            bytes32 hVal = _readContent(cursor, part, leaf);
            node = _hashLeaf(prev, next, bytes32(_load(leaf + LEAF_KEY)), hVal);
            node = _foldPath(cursor, part, node, index, bitmap, end);
            _checkRightSiblings(index, bitmap, nextFreeNode);
        }
    }

    /// Reads the leaf's content by its role, and sets its hKey. @return hVal of its opening
    function _readContent(ProofCursor memory cursor, TreePart memory part, uint256 leaf)
        private
        view
        returns (bytes32 hVal)
    {
        unchecked {
            uint256 role = _load(leaf);
            uint256 links = _load(leaf + LEAF_LINKS);
            uint256 index = links & U40;
            uint256 hKey;
            if (role & OWN != 0) {
                if (index < 2) revert KeyAtHeadOrTail();
                hKey = _load(_keyAt(part, role & KEY_NUMBER));
                hVal = _readValue(cursor, part, leaf);
            } else if (index == 0) {
                // The head's hKey is zero.
                if (links >> 80 != 0) revert ListBeyondItsEnd();
            } else if (index == 1) {
                if (links >> 40 & U40 != 1) revert ListBeyondItsEnd();
                hKey = uint256(_tailKey());
            } else {
                hKey = uint256(_digest(cursor.readWord()));
                hVal = _digest(cursor.readWord());
            }
            _store(leaf + LEAF_KEY, hKey);
        }
    }

    /// Check 16. The sibling of the highest height among those on the right begins farthest to the right.
    function _checkRightSiblings(uint256 index, uint256 bitmap, uint256 nextFreeNode) private pure {
        unchecked {
            uint256 below = bitmap & ~index;
            if (below == 0) return;
            // All bits below the highest bit.
            below >>= 1;
            below |= below >> 1;
            below |= below >> 2;
            below |= below >> 4;
            below |= below >> 8;
            below |= below >> 16;
            below |= below >> 32;
            if ((index | below) + 1 >= nextFreeNode) revert SiblingBeyondNextFreeNode();
        }
    }

    /// The walk of docs/proofs.md, section 9.4, for one leaf. @return node the sub-root, after the last leaf
    function _foldPath(
        ProofCursor memory cursor,
        TreePart memory part,
        bytes32 node,
        uint256 index,
        uint256 bitmap,
        uint256 end
    ) private view returns (bytes32) {
        unchecked {
            if (bitmap >> end != 0) revert UnreadBitmapBit();
            bytes memory zero = part.entry.zero;
            uint256 height = 0;
            while (part.topHeight < end) {
                uint256 met = part.topHeight;
                node = _foldRun(cursor, zero, node, index, bitmap, height, met);
                if (bitmap >> met & 1 != 0) revert UnreadBitmapBit();
                node = _hashPair(_pop(part), node);
                height = met + 1;
            }
            node = _foldRun(cursor, zero, node, index, bitmap, height, end);
            if (end != DEPTH) _push(part, node, end);
            return node;
        }
    }

    function _push(TreePart memory part, bytes32 node, uint256 height) private pure {
        unchecked {
            uint256 top = part.stackAt + NODE_BYTES * part.stackSize;
            _store(top, height);
            _store(top + NODE_HASH, uint256(node));
            part.topHeight = height;
            ++part.stackSize;
        }
    }

    /// @return node that was on top
    function _pop(TreePart memory part) private pure returns (bytes32 node) {
        unchecked {
            uint256 size = part.stackSize - 1;
            uint256 top = part.stackAt + NODE_BYTES * size;
            node = bytes32(_load(top + NODE_HASH));
            part.stackSize = size;
            part.topHeight = size == 0 ? NO_HEIGHT : _load(top - NODE_BYTES);
        }
    }

    /// @param x from 1 to 2^40 @return height of its highest bit
    function _highestBit(uint256 x) private pure returns (uint256 height) {
        unchecked {
            if (x >> 32 != 0) height = 32;
            if (x >> height + 16 != 0) height += 16;
            if (x >> height + 8 != 0) height += 8;
            if (x >> height + 4 != 0) height += 4;
            if (x >> height + 2 != 0) height += 2;
            if (x >> height + 1 != 0) height += 1;
        }
    }

    /// Check 18.
    function _checkAbsences(TreePart memory part) private pure {
        unchecked {
            for (uint256 i = 0; i < part.keyCount; ++i) {
                uint256 key = _keyAt(part, i);
                uint256 proof = _load(key + KEY_PROOF);
                if (proof & PRESENT != 0) continue;
                uint256 left = _leafAt(part, proof >> 16);
                uint256 right = _leafAt(part, proof & KEY_NUMBER);
                uint256 hKey = _load(key);
                if (_load(left + LEAF_KEY) >= hKey || hKey >= _load(right + LEAF_KEY)) revert KeyNotBetweenLeaves();
                uint256 leftLinks = _load(left + LEAF_LINKS);
                uint256 rightLinks = _load(right + LEAF_LINKS);
                if (leftLinks >> 40 & U40 != rightLinks & U40) revert LeavesNotNeighbours();
                if (rightLinks >> 80 != leftLinks & U40) revert LeavesNotNeighbours();
            }
        }
    }
}
