// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account} from "./IProofVerifier.sol";
import {ProofCursor} from "./ProofCursor.sol";
import {ProofVerifier} from "./ProofVerifier.sol";

/// Proofs of chains whose hash suite is `sha256`, by the precompile.
contract Sha256ProofVerifier is ProofVerifier {
    bytes32 private constant TAIL_KEY = bytes32(type(uint256).max);
    bytes32 private constant NEW_TREE_ROOT = 0x236e8dc4476b99459a9cb68b079c79a80db0c759a9788d57ae6c473d89c42206;
    bytes32 private constant CODE_HASH_OF_NO_CODE = 0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855;
    /// H of two of the one before, beginning with zero bytes.
    bytes private constant ZERO_SUB_TREES =
        hex"0000000000000000000000000000000000000000000000000000000000000000"
        hex"f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"
        hex"db56114e00fdd4c1f85c892bf35ac9a89289aaecb1ebd0a96cde606a748b5d71"
        hex"c78009fdf07fc56a11f122370658a353aaa542ed63e44c4bc15ff4cd105ab33c"
        hex"536d98837f2dd165a55d5eeae91485954472d56f246df256bf3cae19352a123c"
        hex"9efde052aa15429fae05bad4d0b1d7c64da64d03d7a1854a588c2cb8430c0d30"
        hex"d88ddfeed400a8755596b21942c1497e114c302e6118290f91e6772976041fa1"
        hex"87eb0ddba57e35f6d286673802a4af5975e22506c7cf4c64bb6be5ee11527f2c"
        hex"26846476fd5fc54a5d43385167c95144f2643f533cc85bb9d16b782f8d7db193"
        hex"506d86582d252405b840018792cad2bf1259f1ef5aa5f887e13cb2f0094f51e1"
        hex"ffff0ad7e659772f9534c195c815efc4014ef1e1daed4404c06385d11192e92b"
        hex"6cf04127db05441cd833107a52be852868890e4317e6a02ab47683aa75964220"
        hex"b7d05f875f140027ef5118a2247bbb84ce8f2f0f1123623085daf7960c329f5f"
        hex"df6af5f5bbdb6be9ef8aa618e4bf8073960867171e29676f8b284dea6a08a85e"
        hex"b58d900f5e182e3c50ef74969ea16c7726c549757cc23523c369587da7293784"
        hex"d49a7502ffcfb0340b1d7885688500ca308161a7f96b62df9d083b71fcc8f2bb"
        hex"8fe6b1689256c0d385f42f5bbe2027a22c1996e110ba97c171d3e5948de92beb"
        hex"8d0d63c39ebade8509e0ae3c9c3876fb5fa112be18f905ecacfecb92057603ab"
        hex"95eec8b2e541cad4e91de38385f2e046619f54496c2382cb6cacd5b98c26f5a4"
        hex"f893e908917775b62bff23294dbbe3a1cd8e6cc1c35b4801887b646a6f81f17f"
        hex"cddba7b592e3133393c16194fac7431abf2f5485ed711db282183c819e08ebaa"
        hex"8a8d7fe3af8caa085a7639a832001457dfb9128a8061142ad0335629ff23ff9c"
        hex"feb3c337d7a51a6fbf00b9e34c52e1c9195c969bd4e7a0bfd51d5c5bed9c1167"
        hex"e71f0aa83cc32edfbefa9f4d3e0174ca85182eec9f3a09f6a6c0df6377a510d7"
        hex"31206fa80a50bb6abe29085058f16212212a60eec8f049fecb92d8c8e0a84bc0"
        hex"21352bfecbeddde993839f614c3dac0a3ee37543f9b412b16199dc158e23b544"
        hex"619e312724bb6d7c3153ed9de791d764a366b389af13c58bf8a8d90481a46765"
        hex"7cdd2986268250628d0c10e385c58c6191e6fbe05191bcc04f133f2cea72c1c4"
        hex"848930bd7ba8cac54661072113fb278869e07bb8587f91392933374d017bcbe1"
        hex"8869ff2c22b28cc10510d9853292803328be4fb0e80495e8bb8d271f5b889636"
        hex"b5fe28e79f1b850f8658246ce9b6a1e7b49fc06db7143e8fe0b4f2b0c5523a5c"
        hex"985e929f70af28d0bdd1a90a808f977f597c7c778c489e98d3bd8910d31ac0f7"
        hex"c6f67e02e6e4e1bdefb994c6098953f34636ba2b6ca20a4721d2b26a886722ff"
        hex"1c9a7e5ff1cf48b4ad1582d3f4e4a1004f3b20d8c5a2b71387a4254ad933ebc5"
        hex"2f075ae229646b6f6aed19a5e372cf295081401eb893ff599b3f9acc0c0d3e7d"
        hex"328921deb59612076801e8cd61592107b5c67c79b846595cc6320c395b46362c"
        hex"bfb909fdb236ad2411b4e4883810a074b840464689986c3f8a8091827e17c327"
        hex"55d8fb3687ba3ba49f342c77f5a1f89bec83d811446e1a467139213d640b6a74"
        hex"f7210d4f8e7e1039790e7bf4efa207555a10a6db1dd4b95da313aaa88b88fe76"
        hex"ad21b516cbc645ffe34ab5de1c8aef8cd4e7f8d2b51e8e1456adc7563cda206f";

    /// Hashes memory. The first 64 bytes of memory are Solidity's scratch space.
    function _sha256(uint256 start, uint256 length) private view returns (bytes32 hash) {
        bool done;
        assembly ("memory-safe") {
            // The call is evaluated first. An address without the precompile succeeds too, and returns nothing.
            done := and(eq(returndatasize(), 0x20), staticcall(gas(), 0x02, start, length, 0x00, 0x20))
            hash := mload(0x00)
        }
        if (!done) revert HashFailed();
    }

    function _hashPair(bytes32 left, bytes32 right) internal view override returns (bytes32) {
        assembly ("memory-safe") {
            mstore(0x00, left)
            mstore(0x20, right)
        }
        return _sha256(0x00, 0x40);
    }

    function _foldRun(
        ProofCursor memory cursor,
        bytes memory zero,
        bytes32 node,
        uint256 index,
        uint256 bitmap,
        uint256 from,
        uint256 to
    ) internal view override returns (bytes32) {
        if (from == to) return node;
        uint256 isEmpty = 0;
        bool isRefused;
        bool done;
        assembly ("memory-safe") {
            let position := mload(cursor)
            let z := add(add(zero, 0x20), shl(5, from))
            let last := add(add(zero, 0x20), shl(5, to))
            let mask := sub(shl(sub(to, from), 1), 1)
            let sent := and(shr(from, bitmap), mask)
            // The index is 5 bits up: its lowest bit, as 0x20, is the node's place in memory. A right child goes to 0x20 and its sibling to
            // 0x00, a left child the other way round. Bits that were shifted below the lowest one do no harm.
            let places := shl(5, and(shr(from, index), mask))
            mstore(and(places, 0x20), node)
            // Each hash is written to where it belongs as a child. Only the last call is checked: a call that has too little gas takes all
            // there is, so that nothing follows, and what else can fail fails in all calls of a frame. Beyond the end of the proof, other
            // bytes or zeros are read. The end is checked below.
            for {} 1 {} {
                // Where four siblings follow one another, four levels at a time.
                for {} eq(and(sent, 0x0f), 0x0f) {} {
                    let sibling := calldataload(position)
                    isEmpty := or(isEmpty, eq(sibling, mload(z)))
                    mstore(xor(and(places, 0x20), 0x20), sibling)
                    let place := and(shr(1, places), 0x20)
                    pop(staticcall(gas(), 0x02, 0x00, 0x40, place, 0x20))
                    sibling := calldataload(add(position, 0x20))
                    isEmpty := or(isEmpty, eq(sibling, mload(add(z, 0x20))))
                    mstore(xor(place, 0x20), sibling)
                    place := and(shr(2, places), 0x20)
                    pop(staticcall(gas(), 0x02, 0x00, 0x40, place, 0x20))
                    sibling := calldataload(add(position, 0x40))
                    isEmpty := or(isEmpty, eq(sibling, mload(add(z, 0x40))))
                    mstore(xor(place, 0x20), sibling)
                    place := and(shr(3, places), 0x20)
                    pop(staticcall(gas(), 0x02, 0x00, 0x40, place, 0x20))
                    sibling := calldataload(add(position, 0x60))
                    isEmpty := or(isEmpty, eq(sibling, mload(add(z, 0x60))))
                    mstore(xor(place, 0x20), sibling)
                    places := shr(4, places)
                    pop(staticcall(gas(), 0x02, 0x00, 0x40, and(places, 0x20), 0x20))
                    sent := shr(4, sent)
                    position := add(position, 0x80)
                    z := add(z, 0x80)
                }
                if iszero(or(sent, shr(5, places))) { break }
                let sibling := mload(z)
                if and(sent, 1) {
                    let empty := sibling
                    sibling := calldataload(position)
                    isEmpty := or(isEmpty, eq(sibling, empty))
                    position := add(position, 0x20)
                }
                mstore(xor(and(places, 0x20), 0x20), sibling)
                places := shr(1, places)
                pop(staticcall(gas(), 0x02, 0x00, 0x40, and(places, 0x20), 0x20))
                sent := shr(1, sent)
                z := add(z, 0x20)
            }
            // Above the leaves in use all siblings are empty, and on the right. Four at a time: 36 gas less for each.
            for { let four := sub(last, 0x60) } lt(z, four) { z := add(z, 0x80) } {
                mstore(0x20, mload(z))
                pop(staticcall(gas(), 0x02, 0x00, 0x40, 0x00, 0x20))
                mstore(0x20, mload(add(z, 0x20)))
                pop(staticcall(gas(), 0x02, 0x00, 0x40, 0x00, 0x20))
                mstore(0x20, mload(add(z, 0x40)))
                pop(staticcall(gas(), 0x02, 0x00, 0x40, 0x00, 0x20))
                mstore(0x20, mload(add(z, 0x60)))
                pop(staticcall(gas(), 0x02, 0x00, 0x40, 0x00, 0x20))
            }
            for {} lt(z, last) { z := add(z, 0x20) } {
                mstore(0x20, mload(z))
                pop(staticcall(gas(), 0x02, 0x00, 0x40, 0x00, 0x20))
            }
            node := mload(0x00)
            // An address without the precompile succeeds too, and returns nothing.
            done := eq(returndatasize(), 0x20)
            mstore(cursor, position)
            isRefused := or(or(gt(position, mload(add(cursor, 0x20))), isEmpty), iszero(done))
        }
        if (isRefused) {
            if (cursor.position > cursor.end) revert ProofTooShort();
            if (!done) revert HashFailed();
            revert EmptySiblingSent();
        }
        return node;
    }

    function _hashLeaf(uint256 prev, uint256 next, bytes32 hKey, bytes32 hVal)
        internal
        view
        override
        returns (bytes32)
    {
        uint256 free;
        assembly ("memory-safe") {
            // Beyond what is allocated, for the time of the call.
            free := mload(0x40)
            mstore(free, prev)
            mstore(add(free, 0x20), next)
            mstore(add(free, 0x40), hKey)
            mstore(add(free, 0x60), hVal)
        }
        return _sha256(free, 0x80);
    }

    function _hashRoot(uint256 nextFreeNode, bytes32 subRoot) internal view override returns (bytes32) {
        return _hashPair(bytes32(nextFreeNode), subRoot);
    }

    function _hashAddress(address account) internal view override returns (bytes32) {
        return _hashWord(bytes32(uint256(uint160(account))));
    }

    function _hashWord(bytes32 word) internal view override returns (bytes32) {
        assembly ("memory-safe") {
            mstore(0x00, word)
        }
        return _sha256(0x00, 0x20);
    }

    function _hashAccount(Account memory value) internal view override returns (bytes32) {
        uint256 start;
        assembly ("memory-safe") {
            // Its six fields are one word each, in the order of the value.
            start := value
        }
        return _sha256(start, 0xc0);
    }

    /// Any word can be a digest.
    function _digest(bytes32 word) internal pure override returns (bytes32) {
        return word;
    }

    function _tailKey() internal pure override returns (bytes32) {
        return TAIL_KEY;
    }

    function _newTreeRoot() internal pure override returns (bytes32) {
        return NEW_TREE_ROOT;
    }

    function _codeHashOfNoCode() internal pure override returns (bytes32) {
        return CODE_HASH_OF_NO_CODE;
    }

    function _zeroSubTrees() internal pure override returns (bytes memory) {
        return ZERO_SUB_TREES;
    }
}
