// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ISlotVerifier} from "./IProofVerifier.sol";

/// Verifies proof bytes 0x05 of one account and its slots: multiproofs of Ethereum's state trie, docs/proofs.md, section 17. `stateRoot` is
/// that of the block's header.
///
/// Only nodes whose hash a trusted node names are read, so they are what an Ethereum node wrote, and need no further check. Nodes may stand
/// in any order, and others among them: unlike the other verifiers, this one takes more than one encoding of a proof.
contract KeccakProofVerifier is ISlotVerifier {
    bytes1 private constant TRIE_PROOF = 0x05;
    /// The root of a trie without keys.
    bytes32 private constant EMPTY_TRIE = 0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421;
    uint256 private constant NO_NODE = 0x80;
    uint256 private constant HASHED_NODE = 0xa0;
    uint256 private constant LEAF = 2;
    uint256 private constant ODD = 1;

    /// The first byte is not 0x05.
    error NotATrieProof();
    /// The bytes end within a node, or something between the nodes is not a node.
    error NotANode();
    /// The proof belongs to another root, account or slots.
    error NodeMissing(bytes32 hash);

    function verifySlots(bytes32 stateRoot, address account, bytes32[] calldata slots, bytes calldata proof)
        external
        pure
        returns (bytes32[] memory values)
    {
        uint256[] memory nodes = _readNodes(proof);
        values = new bytes32[](slots.length);
        uint256 place = _find(nodes, stateRoot, keccak256(abi.encodePacked(account)));
        if (place == 0) return values;
        // [nonce, balance, storageRoot, codeHash]
        (place,) = _item(place);
        (, place) = _item(place);
        (, place) = _item(place);
        bytes32 storageRoot = bytes32(_uintAt(place + 1, 32));
        for (uint256 i = 0; i < slots.length; ++i) {
            place = _find(nodes, storageRoot, keccak256(abi.encode(slots[i])));
            if (place == 0) continue;
            (uint256 start, uint256 end) = _item(place);
            values[i] = bytes32(_uintAt(start, end - start));
        }
    }

    /// @return nodes a hash table with open addressing: hash | calldata offset, zero in a free entry
    function _readNodes(bytes calldata proof) private pure returns (uint256[] memory nodes) {
        if (proof.length == 0 || proof[0] != TRIE_PROOF) revert NotATrieProof();
        uint256 start;
        assembly ("memory-safe") {
            start := proof.offset
        }
        uint256 end = start + proof.length;
        uint256 count = 0;
        for (uint256 place = start + 1; place != end; ++count) {
            (uint256 content, uint256 next) = _item(place);
            if (next > end || content == place) revert NotANode();
            place = next;
        }
        uint256 entries = 2;
        while (entries < 2 * count) entries *= 2;
        nodes = new uint256[](2 * entries);
        for (uint256 place = start + 1; place != end;) {
            (, uint256 next) = _item(place);
            uint256 hash = uint256(keccak256(proof[place - start:next - start]));
            uint256 entry = _entryOf(nodes, hash);
            nodes[entry] = hash;
            nodes[entry + 1] = place;
            place = next;
        }
    }

    /// @return entry of the node with this hash, or the free one where it would be
    function _entryOf(uint256[] memory nodes, uint256 hash) private pure returns (uint256 entry) {
        unchecked {
            uint256 mask = nodes.length - 2;
            entry = (hash << 1) & mask;
            while (nodes[entry + 1] != 0 && nodes[entry] != hash) entry = (entry + 2) & mask;
        }
    }

    function _nodeOf(uint256[] memory nodes, bytes32 hash) private pure returns (uint256 place) {
        place = nodes[_entryOf(nodes, uint256(hash)) + 1];
        if (place == 0) revert NodeMissing(hash);
    }

    /// Walks from a root to a key's value.
    /// @param path the hash of the key
    /// @return value calldata offset of its RLP; zero if the trie has no such key
    function _find(uint256[] memory nodes, bytes32 root, bytes32 path) private pure returns (uint256 value) {
        if (root == EMPTY_TRIE) return 0;
        uint256 node = _nodeOf(nodes, root);
        // The nibbles that remain, from the highest bits on.
        uint256 rest = uint256(path);
        while (true) {
            (uint256 child, uint256 end) = _item(node);
            (uint256 own, uint256 second) = _item(child);
            (uint256 content, uint256 next) = _item(second);
            if (next == end) {
                // [nibbles, child or value]: the first nibble says of which kind it is, and whether a filler follows.
                uint256 flags = _uintAt(own, 1) >> 4;
                uint256 isOdd = flags & ODD;
                uint256 count = 2 * (second - own) - 2 + isOdd;
                uint256 nibbles = isOdd == 0 ? _uintAt(own + 1, 32) : _uintAt(own, 32) << 4;
                if ((nibbles ^ rest) >> 256 - 4 * count != 0) return 0;
                if (flags & LEAF != 0) return content;
                rest <<= 4 * count;
                child = second;
            } else {
                // [16 children, value]
                for (uint256 nibble = rest >> 252; nibble != 0; --nibble) (, child) = _item(child);
                rest <<= 4;
            }
            uint256 kind = _uintAt(child, 1);
            if (kind == NO_NODE) return 0;
            // A node of less than 32 bytes is inlined.
            node = kind == HASHED_NODE ? _nodeOf(nodes, bytes32(_uintAt(child + 1, 32))) : child;
        }
    }

    /// An RLP item. @return content calldata offset of what is in it @return end where the item ends
    function _item(uint256 place) private pure returns (uint256 content, uint256 end) {
        unchecked {
            uint256 first = _uintAt(place, 1);
            if (first < 0x80) return (place, place + 1);
            // Strings and lists are alike but for the highest bits.
            uint256 length = first & 0x3f;
            content = place + 1;
            if (length > 55) {
                uint256 lengthBytes = length - 55;
                length = _uintAt(content, lengthBytes);
                content += lengthBytes;
            }
            end = content + length;
        }
    }

    /// @param length in bytes, at most 32
    function _uintAt(uint256 start, uint256 length) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            // A shift by 256 bits gives zero.
            value := shr(sub(256, shl(3, length)), calldataload(start))
        }
    }
}
