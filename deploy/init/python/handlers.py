from dataclasses import dataclass

import pawl_sdk as pawl


@dataclass
class Person:
    name: str


@dataclass
class Greeting:
    text: str


@pawl.handler("hello.greet@1")
def greet(person: Person, ctx: pawl.Context) -> Greeting:
    text = f"Hello, {person.name}!"
    ctx.emit(f"{text}\n")  # watchers see it at once
    return Greeting(text)


if __name__ == "__main__":
    pawl.serve(greet)
