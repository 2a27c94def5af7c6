// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// An example, for layer 2: what an account sends here stays here, and `Claim` pays as much to the same account on layer 1.
contract Deposit {
    /// Slot 0: the mapping that a `Claim` reads.
    mapping(address depositor => uint256) public owed;

    receive() external payable {
        owed[msg.sender] += msg.value;
    }
}
