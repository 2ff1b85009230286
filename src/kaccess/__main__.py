"""`python -m kaccess` is `kaccess`."""

from kaccess.cli import main

if __name__ == "__main__":
    main()
