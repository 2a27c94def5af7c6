// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ISlotVerifier} from "./IProofVerifier.sol";

/// What proofd answers at /ccip, as the ABI of a call.
interface IProofGateway {
    /// @param slots at least one
    /// @param dynamic bit i: slot i is that of a `bytes` or `string`
    /// @param isTrie the proof is of Ethereum's state trie
    /// @return blockNumber the newest block whose root layer 1 knows
    /// @return words for each slot: how many words its bytes have elsewhere
    /// @return header RLP of the block's header; empty unless `isTrie`
    /// @return proof of the slots, followed by these words' slots
    function proveSlots(address account, bytes32[] calldata slots, uint256 dynamic, bool isTrie)
        external
        view
        returns (uint256 blockNumber, uint256[] memory words, bytes memory header, bytes memory proof);
}

/// Reads slots of contracts on layer 2 by CCIP-read (EIP-3668): a client asks proofd for a proof, and this contract verifies it.
///
///   your function -> _lookUp reverts with OffchainLookup -> the client asks a gateway -> onProof -> _stateRoot, verifier -> _result
///
/// Whoever calls `onProof` chooses what was asked: in a call by another contract, its answer says nothing about another question.
abstract contract ProvenReader {
    ISlotVerifier public immutable verifier;
    /// Whether `verifier` is a KeccakProofVerifier.
    bool public immutable isTrie;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
    /// The slot is not that of a `bytes` or `string`.
    error NotBytes(bytes32 slot);
    /// The gateway sent another number of words than the slot's length needs.
    error WordCountMismatch(bytes32 slot);
    error HeaderMismatch(bytes32 headerHash);

    constructor(ISlotVerifier verifier_, bool isTrie_) {
        verifier = verifier_;
        isTrie = isTrie_;
    }

    /// @return URLs of gateways, such as https://proofd.example.org/ccip or https://proofd.example.org/ccip/{sender}/{data}.json
    function _urls() internal view virtual returns (string[] memory);

    /// @param header that the gateway sent: `_rootOfHeader` checks it
    /// @return the block's state root @dev must revert for a block that is not trusted, or too old: the gateway chose it
    function _stateRoot(uint256 blockNumber, bytes memory header) internal view virtual returns (bytes32);

    /// @param values of the slots: 32 bytes, or the content of a `bytes` or `string`. Zero or empty where absent
    /// @param context as it was given to `_lookUp`
    /// @return what your function returns, as `abi.encode` gives it
    function _result(bytes[] memory values, bytes memory context) internal view virtual returns (bytes memory);

    /// Asks for slots. It never returns: the client calls `onProof` next, and what that returns is the answer to the first call.
    /// @param dynamic bit i: slot i, below 256, is that of a `bytes` or `string`
    function _lookUp(address account, bytes32[] memory slots, uint256 dynamic, bytes memory context) internal view {
        bytes memory callData = abi.encodeCall(IProofGateway.proveSlots, (account, slots, dynamic, isTrie));
        bytes memory extraData = abi.encode(account, slots, dynamic, context);
        revert OffchainLookup(address(this), _urls(), callData, this.onProof.selector, extraData);
    }

    /// @param response what the gateway answered
    /// @param extraData what was asked
    function onProof(bytes calldata response, bytes calldata extraData) external view {
        (uint256 blockNumber, uint256[] memory words, bytes memory header, bytes memory proof) =
            abi.decode(response, (uint256, uint256[], bytes, bytes));
        (address account, bytes32[] memory slots, uint256 dynamic, bytes memory context) =
            abi.decode(extraData, (address, bytes32[], uint256, bytes));
        bytes32 root = _stateRoot(blockNumber, header);
        bytes32[] memory proven = verifier.verifySlots(root, account, _withWords(slots, words), proof);
        bytes memory result = _result(_join(slots, dynamic, words, proven), context);
        assembly ("memory-safe") {
            return(add(result, 0x20), mload(result))
        }
    }

    /// @return root the state root in the header of the block with this hash, at byte 91: what stands before it is always as long
    function _rootOfHeader(bytes32 blockHash, bytes memory header) internal pure returns (bytes32 root) {
        bytes32 hash = keccak256(header);
        if (hash != blockHash) revert HeaderMismatch(hash);
        assembly ("memory-safe") {
            root := mload(add(header, 123))
        }
    }

    /// @return all the slots, followed by those that contain the bytes of each one
    function _withWords(bytes32[] memory slots, uint256[] memory words) private pure returns (bytes32[] memory all) {
        uint256 count = slots.length;
        for (uint256 i = 0; i < slots.length; ++i) count += words[i];
        all = new bytes32[](count);
        uint256 next = slots.length;
        for (uint256 i = 0; i < slots.length; ++i) {
            all[i] = slots[i];
            uint256 first = uint256(keccak256(abi.encode(slots[i])));
            unchecked {
                for (uint256 k = 0; k < words[i]; ++k) all[next++] = bytes32(first + k);
            }
        }
    }

    function _join(bytes32[] memory slots, uint256 dynamic, uint256[] memory words, bytes32[] memory proven)
        private
        pure
        returns (bytes[] memory values)
    {
        values = new bytes[](slots.length);
        uint256 next = slots.length;
        for (uint256 i = 0; i < slots.length; ++i) {
            (uint256 length, uint256 needed) = (32, 0);
            if (dynamic >> i & 1 != 0) (length, needed) = _lengthOf(slots[i], uint256(proven[i]));
            if (words[i] != needed) revert WordCountMismatch(slots[i]);
            bytes memory value = new bytes(length);
            uint256 from = needed == 0 ? i : next;
            assembly ("memory-safe") {
                mcopy(add(value, 0x20), add(add(proven, 0x20), shl(5, from)), length)
            }
            values[i] = value;
            next += needed;
        }
    }

    /// The layout of `bytes` and `string` in storage: below 32 bytes they are in the slot itself, with twice their length in its last byte.
    /// Else the slot is twice their length plus one.
    /// @return length in bytes @return words in other slots
    function _lengthOf(bytes32 slot, uint256 head) private pure returns (uint256 length, uint256 words) {
        bool isShort = head & 1 == 0;
        length = (isShort ? head & 0xff : head) >> 1;
        if (isShort != (length < 32)) revert NotBytes(slot);
        if (!isShort) words = (length + 31) / 32;
    }
}
