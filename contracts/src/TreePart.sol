// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {HashSuite} from "./HashSuite.sol";
import {ProofCursor, ProofReader} from "./ProofCursor.sol";

/// What a tree part proves and by which leaves: docs/proofs.md, section 9.2.
struct TreePart {
    /// The tree is a storage tree, not the account tree.
    bool isStorage;
    /// z(0) .. z(39).
    bytes zero;
    uint256 nextFreeNode;
    uint256 keyCount;
    uint256 leafCount;
    /// Memory offsets of `keyCount` keys and `leafCount` leaves: see TreePartReader.
    uint256 keysAt;
    uint256 leavesAt;
    /// Calldata offset of the leaf indexes.
    uint256 indexesAt;
    /// Some key is absent.
    bool hasAbsences;
    /// Memory offset of the last of the nodes that wait: docs/proofs.md, section 9.4. Below the first is one of height NO_HEIGHT.
    uint256 stackTop;
}

/// Reads tree parts and folds them to their roots. It makes checks 2 to 11, 13 to 16 and 18 of docs/proofs.md, section 10, and leaves to
/// the caller what a leaf's value is and what the root must be.
abstract contract TreePartReader is HashSuite {
    uint256 private constant DEPTH = 40;
    uint256 private constant U40 = 0xffffffffff;

    // Keys and leaves are words in memory, one record after the other. A Solidity function that returns a struct allocates one each time.
    //
    //   key    hKey | proof                  proof: the numbers of its leaves, PRESENT | leaf or left << 16 | right
    //                                        and NEXT_KEY: number of the next key that names the same leaf, if there is one
    //   also | slotsAt | slotCount | values  of an account: calldata offset and number of the slots that are asked for, and memory offset
    //                                        of what they are, zero until they are read: the account may be absent, or without storage
    //   leaf   role | links | hKey | value   role: NEIGHBOUR, OWN | number of the first key, or both; zero if no key names it
    //                                        and LAST_KEY: number of the last key that names it
    //                                        links: prev << 80 | next << 40 | leaf index
    //                                        value: of a slot, or the memory offset of an account, where the leaf is the key's own
    //   node   height | hash                 that waits on the stack
    uint256 internal constant KEY_BYTES = 0xa0;
    uint256 internal constant KEY_PROOF = 0x20;
    uint256 internal constant KEY_SLOTS_AT = 0x40;
    uint256 internal constant KEY_SLOT_COUNT = 0x60;
    uint256 internal constant KEY_VALUES = 0x80;
    uint256 private constant LEAF_BYTES = 0x80;
    uint256 private constant LEAF_LINKS = 0x20;
    uint256 private constant LEAF_KEY = 0x40;
    uint256 internal constant LEAF_VALUE = 0x60;
    uint256 private constant NODE_BYTES = 0x40;
    uint256 private constant NODE_HASH = 0x20;

    uint256 internal constant PRESENT = 1 << 32;
    uint256 private constant NEXT_KEY = 40;
    uint256 private constant OWN = 1 << 16;
    uint256 private constant NEIGHBOUR = 1 << 17;
    uint256 private constant LAST_KEY = 40;
    uint256 internal constant KEY_NUMBER = 0xffff;
    uint256 private constant ABSENT_BIT = 0x8000;
    /// Above the height of any node on the stack.
    uint256 private constant NO_HEIGHT = 255;

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
    /// @param leaf memory offset
    /// @param key memory offset of the first key that names it
    function _readValue(ProofCursor memory cursor, TreePart memory part, uint256 leaf, uint256 key)
        internal
        view
        virtual
        returns (bytes32 hVal);

    /// Reads a part. @return root to which it folds
    function _readPart(ProofCursor memory cursor, TreePart memory part, uint256 minNextFreeNode)
        internal
        view
        returns (bytes32 root)
    {
        _readHead(cursor, part, minNextFreeNode);
        root = _hashRoot(part.nextFreeNode, _foldLeaves(cursor, part));
        if (part.hasAbsences) _checkAbsences(part);
    }

    /// Reads what stands before the records.
    function _readHead(ProofCursor memory cursor, TreePart memory part, uint256 minNextFreeNode) private pure {
        unchecked {
            uint256 head = cursor.readUint(7);
            uint256 count = head & 0xffff;
            uint256 nextFreeNode = head >> 16;
            // Zero less one is far beyond.
            if (count - 1 >= 2 * part.keyCount) revert LeafCountOutOfRange(count);
            if (nextFreeNode < minNextFreeNode) revert NextFreeNodeTooSmall(nextFreeNode);
            part.nextFreeNode = nextFreeNode;
            part.leafCount = count;
            // Of the last leaf no node waits; in its place is the one below the first.
            uint256 leavesAt = _allocate(count * LEAF_BYTES + (count < DEPTH ? count : DEPTH + 1) * NODE_BYTES);
            part.leavesAt = leavesAt;
            part.stackTop = leavesAt + count * LEAF_BYTES;
            _store(part.stackTop, NO_HEIGHT);
            _readKeyTable(cursor, part);
            part.indexesAt = cursor.skip(5 * count);
        }
    }

    function _readKeyTable(ProofCursor memory cursor, TreePart memory part) private pure {
        unchecked {
            uint256 keyCount = part.keyCount;
            uint256 leafCount = part.leafCount;
            uint256 leavesAt = part.leavesAt;
            uint256 key = part.keysAt;
            uint256 position = cursor.position;
            uint256 namedLeaves = 0;
            for (uint256 i = 0; i < keyCount; ++i) {
                // Its second half may be of the next key.
                uint256 numbers = ProofReader.uintAt(position, 4);
                uint256 number = numbers >> 16;
                // ABSENT_BIT means two bytes more.
                position += 2 + (number >> 14 & 2);
                if (position > cursor.end) revert ProofTooShort();
                if (number < ABSENT_BIT) {
                    if (number >= leafCount) revert NoSuchLeaf(number);
                    uint256 leaf = leavesAt + LEAF_BYTES * number;
                    uint256 role = _load(leaf);
                    if (role == 0) ++namedLeaves;
                    if (role & OWN == 0) {
                        role |= OWN | i;
                    } else {
                        if (_load(_keyAt(part, role & KEY_NUMBER)) != _load(key)) revert LeafOfTwoKeys(number);
                        uint256 last = _keyAt(part, role >> LAST_KEY) + KEY_PROOF;
                        _store(last, _load(last) | i << NEXT_KEY);
                        role = uint40(role);
                    }
                    _store(leaf, role | i << LAST_KEY);
                    _store(key + KEY_PROOF, PRESENT | number);
                } else {
                    part.hasAbsences = true;
                    numbers ^= ABSENT_BIT << 16;
                    _store(key + KEY_PROOF, numbers);
                    namedLeaves += _nameNeighbour(part, numbers >> 16) + _nameNeighbour(part, numbers & KEY_NUMBER);
                }
                key += KEY_BYTES;
            }
            cursor.position = position;
            if (namedLeaves == leafCount) return;
            for (uint256 i = 0;; ++i) if (_load(_leafAt(part, i)) == 0) revert LeafWithoutKey(i);
        }
    }

    /// @return isFirst 1 if no key named the leaf before, else 0
    function _nameNeighbour(TreePart memory part, uint256 number) private pure returns (uint256 isFirst) {
        uint256 leaf = _leafAt(part, number);
        uint256 role = _load(leaf);
        if (role == 0) isFirst = 1;
        _store(leaf, role | NEIGHBOUR);
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

    /// @param key memory offset
    /// @return isPresent whether the key is there
    /// @return value LEAF_VALUE of its leaf
    function _valueOf(TreePart memory part, uint256 key) internal pure returns (bool isPresent, uint256 value) {
        unchecked {
            uint256 proof = _load(key + KEY_PROOF);
            isPresent = proof & PRESENT != 0;
            if (isPresent) value = _load(part.leavesAt + LEAF_BYTES * (proof & KEY_NUMBER) + LEAF_VALUE);
        }
    }

    /// @param key memory offset
    /// @return memory offset of the next key that names the same leaf; zero if there is none
    function _nextKey(TreePart memory part, uint256 key) internal pure returns (uint256) {
        uint256 number = _load(key + KEY_PROOF) >> NEXT_KEY;
        return number == 0 ? 0 : _keyAt(part, number);
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

    /// @return start of so many zero bytes of memory, whole words
    function _allocate(uint256 length) internal pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := mload(0x40)
            mstore(0x40, add(start, length))
            // Copying from beyond the calldata writes zeros.
            calldatacopy(start, calldatasize(), length)
        }
    }

    /// Reads the records. @return node the sub-root
    function _foldLeaves(ProofCursor memory cursor, TreePart memory part) private view returns (bytes32 node) {
        unchecked {
            uint256 nextFreeNode = part.nextFreeNode;
            uint256 leaf = part.leavesAt;
            uint256 last = leaf + LEAF_BYTES * (part.leafCount - 1);
            uint256 indexAt = part.indexesAt;
            uint256 index = ProofReader.uintAt(indexAt, 5);
            for (;;) {
                if (index >= nextFreeNode) revert PositionNotInTree(index);
                // The height at which the path ends: just below where it meets the next one.
                uint256 end = DEPTH;
                uint256 nextIndex = 0;
                if (leaf != last) {
                    indexAt += 5;
                    nextIndex = ProofReader.uintAt(indexAt, 5);
                    if (nextIndex <= index) revert LeafIndexesNotAscending(nextIndex);
                    end = _highestBit(index ^ nextIndex);
                }
                node = _foldRecord(cursor, part, leaf, index, end);
                if (leaf == last) return node;
                uint256 top = part.stackTop + NODE_BYTES;
                part.stackTop = top;
                _store(top, end);
                _store(top + NODE_HASH, uint256(node));
                leaf += LEAF_BYTES;
                index = nextIndex;
            }
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
            uint256 position = cursor.position;
            uint256 fields = ProofReader.uintAt(position, 15);
            position += 15;
            cursor.position = position;
            if (position > cursor.end) revert ProofTooShort();
            uint256 bitmap = fields & U40;
            uint256 nextFreeNode = part.nextFreeNode;
            uint256 prev = fields >> 80;
            uint256 next = fields >> 40 & U40;
            if (prev >= nextFreeNode) revert PositionNotInTree(prev);
            if (next >= nextFreeNode) revert PositionNotInTree(next);
            _store(leaf + LEAF_LINKS, fields >> 40 << 40 | index);
            bytes32 hVal;
            uint256 hKey;
            uint256 role = _load(leaf);
            if (role & OWN != 0) {
                if (index < 2) revert KeyAtHeadOrTail();
                uint256 key = _keyAt(part, role & KEY_NUMBER);
                hKey = _load(key);
                hVal = _readValue(cursor, part, leaf, key);
            } else if (index == 0) {
                // The head's hKey is zero.
                if (prev != 0) revert ListBeyondItsEnd();
            } else if (index == 1) {
                if (next != 1) revert ListBeyondItsEnd();
                hKey = uint256(_tailKey());
            } else {
                hKey = uint256(_digest(cursor.readWord()));
                hVal = _digest(cursor.readWord());
            }
            _store(leaf + LEAF_KEY, hKey);
            node = _hashLeaf(prev, next, bytes32(hKey), hVal);
            if (bitmap >> end != 0) revert UnreadBitmapBit();
            node = _foldPath(cursor, part, node, index, bitmap, end);
            // Check 16. A right-hand sibling of height h begins in the tree if the index and the last position in use differ at height h or
            // above. The highest bit of x is above that of y if y is below both x and x ^ y.
            uint256 rightSiblings = bitmap & ~index;
            uint256 differences = index ^ (nextFreeNode - 1);
            if (differences < rightSiblings && differences < differences ^ rightSiblings) {
                revert SiblingBeyondNextFreeNode();
            }
        }
    }

    /// The walk of docs/proofs.md, section 9.4, for one leaf. @return node at height `end`
    function _foldPath(
        ProofCursor memory cursor,
        TreePart memory part,
        bytes32 node,
        uint256 index,
        uint256 bitmap,
        uint256 end
    ) private view returns (bytes32) {
        unchecked {
            bytes memory zero = part.zero;
            uint256 height = 0;
            uint256 top = part.stackTop;
            uint256 met = _load(top);
            while (met < end) {
                node = _foldRun(cursor, zero, node, index, bitmap, height, met);
                if (bitmap >> met & 1 != 0) revert UnreadBitmapBit();
                node = _hashPair(bytes32(_load(top + NODE_HASH)), node);
                height = met + 1;
                top -= NODE_BYTES;
                met = _load(top);
            }
            part.stackTop = top;
            return _foldRun(cursor, zero, node, index, bitmap, height, end);
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
            uint256 end = _keyAt(part, part.keyCount);
            for (uint256 key = part.keysAt; key != end; key += KEY_BYTES) {
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
