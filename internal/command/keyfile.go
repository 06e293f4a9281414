package command

// KeyFileFlag names the file with the key of the database.
type KeyFileFlag struct {
	EncryptionKeyFile string `placeholder:"FILE" help:"File with the database's encryption key (or DECANT_ENCRYPTION_KEY_FILE)."`
}
