// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account} from "./IProofVerifier.sol";
import {ProofCursor} from "./ProofCursor.sol";
import {Entry, TreePart, TreePartReader} from "./TreePart.sol";

/// Verifies proof bytes 0x01 with one entry: an account, and any number of its slots. A contract may inherit from an implementation and
/// use the internal functions, or call a deployed one.
abstract contract ProofVerifier is TreePartReader {
    uint256 private constant ACCOUNT_PROOF = 0x01;
    uint256 private constant MAX_SLOTS = 16384;
    uint256 private constant HAS_STORAGE = 0x80;
    uint256 private constant HAS_CODE = 0x40;
    uint256 private constant NONCE_LENGTH = 0x3f;
    bytes32 private constant KECCAK_OF_NO_CODE = 0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470;

    function verifyAccount(bytes32 stateRoot, address account, bytes calldata proof)
        external
        view
        returns (bool exists, Account memory value)
    {
        return _verifyAccount(stateRoot, account, proof);
    }

    function verifySlots(bytes32 stateRoot, address account, bytes32[] calldata slots, bytes calldata proof)
        external
        view
        returns (bytes32[] memory values)
    {
        return _verifySlots(stateRoot, account, slots, proof);
    }

    function _verifyAccount(bytes32 stateRoot, address account, bytes calldata proof)
        internal
        view
        returns (bool exists, Account memory value)
    {
        bytes32[] memory none;
        Entry memory entry = Entry(0, 0, value, none, _zeroSubTrees());
        exists = _verifyEntry(stateRoot, account, entry, proof);
    }

    function _verifySlots(bytes32 stateRoot, address account, bytes32[] calldata slots, bytes calldata proof)
        internal
        view
        returns (bytes32[] memory values)
    {
        if (slots.length > MAX_SLOTS) revert TooManySlots();
        uint256 slotsAt;
        assembly ("memory-safe") {
            slotsAt := slots.offset
        }
        Account memory value;
        Entry memory entry = Entry(slotsAt, slots.length, value, values, _zeroSubTrees());
        _verifyEntry(stateRoot, account, entry, proof);
        values = entry.values;
        if (values.length != slots.length) values = new bytes32[](slots.length);
    }

    /// @return exists whether the account is there
    function _verifyEntry(bytes32 stateRoot, address account, Entry memory entry, bytes calldata proof)
        private
        view
        returns (bool exists)
    {
        uint256 start;
        assembly ("memory-safe") {
            start := proof.offset
        }
        ProofCursor memory cursor = ProofCursor(start, start + proof.length);
        if (cursor.readUint(1) != ACCOUNT_PROOF) revert NotAnAccountProof();
        TreePart memory part = TreePart(entry, false, 0, 1, 0, _allocateKeys(1), 0, 0, 0, 0, NO_HEIGHT);
        uint256 key = _keyAt(part, 0);
        _store(key, uint256(_hashAddress(account)));
        _readHead(cursor, part);
        bytes32 root = _foldPart(cursor, part);
        if (root != stateRoot) revert RootMismatch(root);
        if (cursor.position != cursor.end) revert TrailingBytes();
        return _load(key + KEY_PROOF) & PRESENT != 0;
    }

    function _readValue(ProofCursor memory cursor, TreePart memory part, uint256 leaf)
        internal
        view
        override
        returns (bytes32 hVal)
    {
        if (!part.isStorage) {
            _readAccount(cursor, part.entry);
            return _hashAccount(part.entry.account);
        }
        uint256 value = cursor.readNumber();
        if (value == 0) revert PresentSlotIsZero();
        _store(leaf + LEAF_VALUE, value);
        return _hashWord(bytes32(value));
    }

    function _readAccount(ProofCursor memory cursor, Entry memory entry) private view {
        Account memory account = entry.account;
        uint256 flags = cursor.readUint(1);
        account.nonce = cursor.readDigits(flags & NONCE_LENGTH);
        account.balance = cursor.readNumber();
        if (flags & HAS_CODE != 0) {
            account.codeSize = cursor.readNumber();
            if (account.codeSize == 0) revert CodeSizeIsZero();
            account.codeHash = _digest(cursor.readWord());
            account.keccakCodeHash = cursor.readWord();
        } else {
            account.codeHash = _codeHashOfNoCode();
            account.keccakCodeHash = KECCAK_OF_NO_CODE;
        }
        account.storageRoot = flags & HAS_STORAGE != 0 ? _readStorageRoot(cursor, entry) : _newTreeRoot();
    }

    /// Of an account that has storage: as sent, or of the part that proves the slots.
    function _readStorageRoot(ProofCursor memory cursor, Entry memory entry) private view returns (bytes32 root) {
        uint256 count = entry.slotCount;
        if (count == 0) {
            root = _digest(cursor.readWord());
            if (root == _newTreeRoot()) revert StorageRootOfNewTree();
            return root;
        }
        TreePart memory part = TreePart(entry, true, 0, count, 0, _allocateKeys(count), 0, 0, 0, 0, NO_HEIGHT);
        uint256 slotAt = entry.slotsAt;
        unchecked {
            for (uint256 i = 0; i < count; ++i) {
                bytes32 slot;
                assembly ("memory-safe") {
                    slot := calldataload(slotAt)
                }
                _store(_keyAt(part, i), uint256(_hashWord(slot)));
                slotAt += 32;
            }
        }
        _readHead(cursor, part);
        root = _foldPart(cursor, part);
        entry.values = _valuesOf(part);
    }

    /// By key, zero where it is absent.
    function _valuesOf(TreePart memory part) private pure returns (bytes32[] memory values) {
        values = new bytes32[](part.keyCount);
        unchecked {
            for (uint256 i = 0; i < values.length; ++i) {
                uint256 proof = _load(_keyAt(part, i) + KEY_PROOF);
                if (proof & PRESENT != 0) values[i] = bytes32(_load(_leafAt(part, proof ^ PRESENT) + LEAF_VALUE));
            }
        }
    }
}
