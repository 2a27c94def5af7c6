// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account, AccountRequest, ProvenAccount} from "./IProofVerifier.sol";
import {ProofCursor, ProofReader} from "./ProofCursor.sol";
import {TreePart, TreePartReader} from "./TreePart.sol";

/// Verifies proof bytes 0x01, of accounts with any number of their slots, and 0x02, of slots of one storage tree. A contract may inherit
/// from an implementation and use the internal functions, or call a deployed one.
abstract contract ProofVerifier is TreePartReader {
    uint256 private constant ACCOUNT_PROOF = 0x01;
    uint256 private constant STORAGE_PROOF = 0x02;
    /// Of entries, and of slots of one storage tree.
    uint256 private constant MAX_KEYS = 16384;
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

    function verifyAccounts(bytes32 stateRoot, AccountRequest[] calldata requests, bytes calldata proof)
        external
        view
        returns (ProvenAccount[] memory proven)
    {
        return _verifyAccounts(stateRoot, requests, proof);
    }

    function verifyStorage(bytes32 storageRoot, bytes32[] calldata slots, bytes calldata proof)
        external
        view
        returns (bytes32[] memory values)
    {
        return _verifyStorage(storageRoot, slots, proof);
    }

    function _verifyAccount(bytes32 stateRoot, address account, bytes calldata proof)
        internal
        view
        returns (bool exists, Account memory value)
    {
        TreePart memory part = TreePart(false, _zeroSubTrees(), 0, 1, 0, _allocate(KEY_BYTES), 0, 0, false, 0);
        _store(part.keysAt, uint256(_hashAddress(account)));
        _verifyPart(stateRoot, part, proof);
        uint256 place;
        (exists, place) = _valueOf(part, part.keysAt);
        if (exists) value = _accountAt(place);
    }

    function _verifySlots(bytes32 stateRoot, address account, bytes32[] calldata slots, bytes calldata proof)
        internal
        view
        returns (bytes32[] memory values)
    {
        TreePart memory part = TreePart(false, _zeroSubTrees(), 0, 1, 0, _allocate(KEY_BYTES), 0, 0, false, 0);
        _askAccount(part.keysAt, account, slots);
        _verifyPart(stateRoot, part, proof);
        return _valuesOf(part.keysAt);
    }

    function _verifyAccounts(bytes32 stateRoot, AccountRequest[] calldata requests, bytes calldata proof)
        internal
        view
        returns (ProvenAccount[] memory proven)
    {
        unchecked {
            uint256 count = requests.length;
            if (count > MAX_KEYS) revert TooManyAccounts();
            TreePart memory part = TreePart(false, _zeroSubTrees(), 0, count, 0, _allocate(KEY_BYTES * count), 0, 0, false, 0);
            for (uint256 i = 0; i < count; ++i) {
                AccountRequest calldata request = requests[i];
                _askAccount(_keyAt(part, i), request.account, request.slots);
            }
            _verifyPart(stateRoot, part, proof);
            proven = new ProvenAccount[](count);
            for (uint256 i = 0; i < count; ++i) {
                uint256 key = _keyAt(part, i);
                (bool exists, uint256 place) = _valueOf(part, key);
                proven[i].exists = exists;
                if (exists) proven[i].value = _accountAt(place);
                proven[i].slots = _valuesOf(key);
            }
        }
    }

    function _verifyStorage(bytes32 storageRoot, bytes32[] calldata slots, bytes calldata proof)
        internal
        view
        returns (bytes32[] memory values)
    {
        unchecked {
            uint256 count = slots.length;
            if (count > MAX_KEYS) revert TooManySlots();
            TreePart memory part = TreePart(true, _zeroSubTrees(), 0, count, 0, _allocate(KEY_BYTES * count), 0, 0, false, 0);
            uint256 slotsAt;
            assembly ("memory-safe") {
                slotsAt := slots.offset
            }
            _hashSlots(part.keysAt, slotsAt, count);
            _verifyPart(storageRoot, part, proof);
            return _slotValues(part, part.keysAt, count);
        }
    }

    /// Sets a key of the account tree.
    function _askAccount(uint256 key, address account, bytes32[] calldata slots) private view {
        unchecked {
            if (slots.length > MAX_KEYS) revert TooManySlots();
            uint256 slotsAt;
            assembly ("memory-safe") {
                slotsAt := slots.offset
            }
            _store(key, uint256(_hashAddress(account)));
            _store(key + KEY_SLOTS_AT, slotsAt);
            _store(key + KEY_SLOT_COUNT, slots.length);
        }
    }

    /// Reads a proof, and compares its root.
    function _verifyPart(bytes32 trustedRoot, TreePart memory part, bytes calldata proof) private view {
        unchecked {
            uint256 start;
            assembly ("memory-safe") {
                start := proof.offset
            }
            ProofCursor memory cursor = ProofCursor(start, start + proof.length);
            uint256 form = cursor.readUint(1);
            if (part.isStorage) {
                if (form != STORAGE_PROOF) revert NotAStorageProof();
            } else if (form != ACCOUNT_PROOF) {
                revert NotAnAccountProof();
            }
            bytes32 root = _readPart(cursor, part, 2);
            if (root != trustedRoot) revert RootMismatch(root);
            if (cursor.position != cursor.end) revert TrailingBytes();
        }
    }

    function _accountAt(uint256 place) private pure returns (Account memory account) {
        assembly ("memory-safe") {
            account := place
        }
    }

    /// Of the slots of an account's key: zero where absent.
    function _valuesOf(uint256 key) private pure returns (bytes32[] memory values) {
        unchecked {
            uint256 place = _load(key + KEY_VALUES);
            if (place == 0) return new bytes32[](_load(key + KEY_SLOT_COUNT));
            assembly ("memory-safe") {
                values := place
            }
        }
    }

    function _readValue(ProofCursor memory cursor, TreePart memory part, uint256 leaf, uint256 key)
        internal
        view
        override
        returns (bytes32 hVal)
    {
        unchecked {
            uint256 value;
            if (part.isStorage) {
                value = cursor.readNumber();
                if (value == 0) revert PresentSlotIsZero();
                hVal = _hashWord(bytes32(value));
            } else {
                Account memory account = Account(0, 0, 0, 0, 0, 0);
                bool hasStorage = _readAccount(cursor, account);
                account.storageRoot = hasStorage ? _readStorageRoot(cursor, part, key) : _newTreeRoot();
                hVal = _hashAccount(account);
                assembly ("memory-safe") {
                    value := account
                }
            }
            _store(leaf + LEAF_VALUE, value);
        }
    }

    /// Reads an account's value, but for its storageRoot. @return whether it has storage
    function _readAccount(ProofCursor memory cursor, Account memory account) private pure returns (bool) {
        unchecked {
            uint256 start = cursor.position;
            // If it is not there, nor is the nonce.
            uint256 flags = ProofReader.uintAt(start, 1);
            account.nonce = cursor.readDigits(start + 1, flags & NONCE_LENGTH);
            account.balance = cursor.readNumber();
            if (flags & HAS_CODE != 0) {
                account.codeSize = cursor.readNumber();
                if (account.codeSize == 0) revert CodeSizeIsZero();
                start = cursor.skip(64);
                account.codeHash = _digest(bytes32(ProofReader.uintAt(start, 32)));
                account.keccakCodeHash = bytes32(ProofReader.uintAt(start + 32, 32));
            } else {
                account.codeHash = _codeHashOfNoCode();
                account.keccakCodeHash = KECCAK_OF_NO_CODE;
            }
            return flags & HAS_STORAGE != 0;
        }
    }

    /// Of an account that has storage: as sent, or of the part that proves the slots of all keys that name its leaf.
    /// @param first memory offset of the first of these keys
    function _readStorageRoot(ProofCursor memory cursor, TreePart memory accounts, uint256 first)
        private
        view
        returns (bytes32 root)
    {
        unchecked {
            uint256 count = 0;
            for (uint256 key = first; key != 0; key = _nextKey(accounts, key)) count += _load(key + KEY_SLOT_COUNT);
            if (count == 0) {
                root = _digest(cursor.readWord());
                if (root == _newTreeRoot()) revert StorageRootOfNewTree();
                return root;
            }
            if (count > MAX_KEYS) revert TooManySlots();
            TreePart memory part = TreePart(true, accounts.zero, 0, count, 0, _allocate(KEY_BYTES * count), 0, 0, false, 0);
            uint256 slot = part.keysAt;
            for (uint256 key = first; key != 0; key = _nextKey(accounts, key))
                slot = _hashSlots(slot, _load(key + KEY_SLOTS_AT), _load(key + KEY_SLOT_COUNT));
            // The tree of an account without storage is not sent.
            root = _readPart(cursor, part, 3);
            slot = part.keysAt;
            for (uint256 key = first; key != 0; key = _nextKey(accounts, key)) {
                count = _load(key + KEY_SLOT_COUNT);
                bytes32[] memory values = _slotValues(part, slot, count);
                uint256 valuesAt;
                assembly ("memory-safe") {
                    valuesAt := values
                }
                _store(key + KEY_VALUES, valuesAt);
                slot += KEY_BYTES * count;
            }
        }
    }

    /// Sets keys of a storage tree. @return memory offset of what follows them
    /// @param slot memory offset of the first
    function _hashSlots(uint256 slot, uint256 slotsAt, uint256 count) private view returns (uint256) {
        unchecked {
            for (uint256 end = slotsAt + 32 * count; slotsAt != end; slotsAt += 32) {
                _store(slot, uint256(_hashWord(bytes32(ProofReader.uintAt(slotsAt, 32)))));
                slot += KEY_BYTES;
            }
            return slot;
        }
    }

    /// @param slot memory offset of the first
    /// @return values zero where absent
    function _slotValues(TreePart memory part, uint256 slot, uint256 count) private pure returns (bytes32[] memory values) {
        unchecked {
            values = new bytes32[](count);
            uint256 place;
            assembly ("memory-safe") {
                place := add(values, 0x20)
            }
            for (uint256 end = place + 32 * count; place != end; place += 32) {
                (, uint256 value) = _valueOf(part, slot);
                _store(place, value);
                slot += KEY_BYTES;
            }
        }
    }
}
