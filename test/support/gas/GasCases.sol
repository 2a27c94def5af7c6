// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Takes ether within the 2300 gas that a transfer leaves to the receiver.
contract Till {
    event Paid(address from, uint256 value);

    receive() external payable {
        emit Paid(msg.sender, msg.value);
    }

    function pay(address payable to, uint256 value) external payable {
        to.transfer(value);
    }
}

/// Calls that pass all their gas on, less the 64th part (EIP-150).
contract Forwarder {
    error Undone();

    /// Calls itself `depth` times, then hashes.
    function nest(uint256 depth, uint256 hashes) external {
        if (depth == 0) return hash(hashes);
        (bool done, ) = address(this).call(abi.encodeCall(this.nest, (depth - 1, hashes)));
        if (!done) revert Undone();
    }

    /// Makes an attempt and continues without it if the gas is too little.
    function attempt(uint256 hashes) external {
        try this.nest(0, hashes) {} catch {}
    }

    /// Needs more gas where the attempt fails than where it succeeds.
    function attemptOrElse(uint256 hashes, uint256 otherwise) external {
        try this.nest(0, hashes) {} catch {
            hash(otherwise);
        }
    }

    function relay(address to, bytes calldata input, uint256 gasForIt) external {
        require(gasleft() * 63 / 64 > gasForIt, "not enough gas to relay");
        (bool done, ) = to.call{gas: gasForIt}(input);
        if (!done) revert Undone();
    }

    function call(address to, bytes calldata input) external payable {
        (bool done, ) = to.call{value: msg.value}(input);
        if (!done) revert Undone();
    }

    function staticCall(address to, bytes calldata input, uint256 times) external view {
        for (uint256 i = 0; i < times; i++) {
            (bool done, ) = to.staticcall(input);
            if (!done) revert Undone();
        }
    }

    function hash(uint256 hashes) private pure {
        assembly {
            for { let i := 0 } lt(i, hashes) { i := add(i, 1) } { mstore(0, keccak256(0, 32)) }
        }
    }
}

contract GasReader {
    function need(uint256 gas_) external view {
        require(gasleft() > gas_, "not enough gas left");
    }

    /// Spends whatever it is given.
    function burnDownTo(uint256 gas_) external view {
        while (gasleft() > gas_) {}
    }
}

contract Slots {
    /// Ends with an SSTORE of a dirty slot: it costs 100 gas and needs 2301 (EIP-2200).
    function writeLast() external {
        assembly {
            sstore(0x100, 1)
            sstore(0x100, 2)
            stop()
        }
    }

    function setAndClear(uint256 times) external {
        assembly {
            for { let slot := 0 } lt(slot, times) { slot := add(slot, 1) } {
                sstore(add(0x200, slot), 1)
                sstore(add(0x200, slot), 0)
            }
        }
    }

    /// Clears slots that are set, and sets them to their old values again.
    function clearAndRestore(uint256 from, uint256 to) external {
        assembly {
            for { let slot := from } lt(slot, to) { slot := add(slot, 1) } {
                let value := sload(slot)
                sstore(slot, 0)
                sstore(slot, value)
            }
        }
    }

    function sum(uint256 from, uint256 to) external view returns (uint256 total) {
        assembly {
            for { let slot := from } lt(slot, to) { slot := add(slot, 1) } { total := add(total, sload(slot)) }
        }
    }

    function transient_(uint256 times) external {
        assembly {
            for { let slot := 0 } lt(slot, times) { slot := add(slot, 1) } {
                tstore(slot, 7)
                if iszero(eq(tload(slot), 7)) { revert(0, 0) }
            }
        }
    }

    /// The second call sees what the first one left.
    function transientAcrossCalls(bool first) external {
        if (!first) {
            assembly {
                if iszero(tload(0)) { invalid() }
            }
            return;
        }
        assembly {
            tstore(0, 1)
        }
        this.transientAcrossCalls(false);
    }
}

contract Logger {
    function log(uint256 topics, uint256 size) external {
        assembly {
            switch topics
            case 0 { log0(0, size) }
            case 1 { log1(0, size, 1) }
            case 2 { log2(0, size, 1, 2) }
            case 3 { log3(0, size, 1, 2, 3) }
            default { log4(0, size, 1, 2, 3, 4) }
        }
    }
}

contract Memory {
    function expand(uint256 to) external pure {
        assembly {
            mstore(to, 1)
        }
    }

    function copy(uint256 size) external pure {
        assembly {
            mstore(size, 1)
            mcopy(size, 0, size)
            mstore(0, keccak256(0, size))
            return(0, size)
        }
    }

    function inspect(address[] calldata accounts) external view {
        assembly {
            for { let i := 0 } lt(i, accounts.length) { i := add(i, 1) } {
                let account := calldataload(add(accounts.offset, mul(i, 32)))
                pop(add(balance(account), add(extcodesize(account), extcodehash(account))))
                extcodecopy(account, 0, 0, 100)
            }
        }
    }
}

/// Slot 0 is the address of the implementation, whose slots are kept here.
contract Proxy {
    address private implementation;

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(0), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

contract Refuser {
    error Refused(address caller, uint256 amount, string why);

    uint256[] private list;

    function withReason(string calldata reason) external pure {
        revert(reason);
    }

    function withoutData() external pure {
        revert();
    }

    function custom() external view {
        revert Refused(msg.sender, 42, "as always");
    }

    function raw(bytes calldata data) external pure {
        assembly {
            calldatacopy(0, data.offset, data.length)
            revert(0, data.length)
        }
    }

    function assertFalse() external pure {
        assert(false);
    }

    function overflow(uint256 a) external pure returns (uint256) {
        return a + type(uint256).max;
    }

    function divide(uint256 a) external pure returns (uint256) {
        return 1 / a;
    }

    function outOfBounds(uint256 at) external view returns (uint256) {
        return list[at];
    }

    function pop() external {
        list.pop();
    }
}

/// Reverts with the values that code can see of the block and the transaction.
contract Witness {
    function ofBlock() external view {
        bytes memory seen = abi.encode(
            block.number,
            block.timestamp,
            block.coinbase,
            block.prevrandao,
            block.gaslimit,
            block.chainid,
            block.basefee,
            block.blobbasefee,
            blockhash(block.number - 1),
            blockhash(0),
            blockhash(block.number)
        );
        assembly {
            revert(add(seen, 32), mload(seen))
        }
    }

    function ofTransaction() external payable {
        bytes memory seen = abi.encode(
            msg.sender,
            tx.origin,
            msg.value,
            address(this).balance,
            blobhash(0),
            address(this).code.length
        );
        assembly {
            revert(add(seen, 32), mload(seen))
        }
    }

    function gasPrice() external view {
        bytes memory seen = abi.encode(tx.gasprice);
        assembly {
            revert(add(seen, 32), mload(seen))
        }
    }

    /// Spends an amount of gas that depends on the block.
    function spendByBlock() external view {
        uint256 rounds = block.number + (block.timestamp & 0xff) + (block.prevrandao & 0xff) + uint160(address(block.coinbase)) % 97
            + block.basefee + block.chainid % 89 + uint256(blockhash(block.number - 1)) % 101;
        assembly {
            for { let i := 0 } lt(i, rounds) { i := add(i, 1) } { mstore(0, keccak256(0, 32)) }
        }
    }
}

contract Child {
    constructor(bool accepts) payable {
        require(accepts, "the child refuses");
    }
}

contract Parent {
    function make(uint256 count) external {
        for (uint256 i = 0; i < count; i++) new Child(true);
    }

    function makeRefusing() external {
        new Child(false);
    }

    /// A creation that must succeed. It gets all gas but the 64th part.
    function makeAt(bytes32 salt, bytes calldata initcode) external {
        assembly {
            calldatacopy(0, initcode.offset, initcode.length)
            if iszero(create2(0, 0, initcode.length, salt)) { revert(0, 0) }
        }
    }
}

contract Demanding {
    uint256[3] private slots;

    constructor(uint256 least) payable {
        require(msg.value >= least, "too little");
        slots = [1, 2, 3];
    }
}
